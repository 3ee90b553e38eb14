"""From a terminology to datasets on disk, and back: builds and their verification."""
