"""What checks the types of the page, builds its libraries and takes its pictures; the packages of Node."""
