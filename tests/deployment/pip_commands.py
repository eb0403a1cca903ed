"""What a command of pip installs, told from its words."""

from __future__ import annotations

from pathlib import Path


def assert_locked(words: list[str]) -> None:
    """This command of pip installs by a lock file, or else the package itself, without fetching anything."""
    if "-r" in words:
        files = [words[position + 1] for position, word in enumerate(words) if word == "-r"]
        assert {"--no-deps", "--require-hashes"} <= set(words)
        assert {Path(file).parent for file in files} == {Path("locks")}
        assert not any(word.startswith("-e") for word in words)
    else:
        assert {"--no-index", "--no-deps"} <= set(words)
        if "-e" in words or "wheel" in words:
            assert "--no-build-isolation" in words
