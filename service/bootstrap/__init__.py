"""The processes, put together.

Owns which concrete adapter each part gets: no other package names any. Does not depend on what a process serves.
"""
