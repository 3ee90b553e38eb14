"""One module a format of terminology, each registered by name."""
