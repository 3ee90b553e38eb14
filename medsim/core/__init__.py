"""The base of all packages: errors, files, tables, queries, the store and manifests."""
