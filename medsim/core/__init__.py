"""The base of all rooms: errors, files, tables, queries, the store and manifests."""
