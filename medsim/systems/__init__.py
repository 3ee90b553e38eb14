"""Systems without vectors, such as cross-encoders, rules and pipelines: their predictions."""
