"""The hashes of terms and ties with Python's integers, which never overflow."""

MASK = (1 << 64) - 1


def mixed(word: int) -> int:
    """Return SplitMix64's output for a state, by Steele, Lea and Flood 2014, figure 17."""
    word = (word + 0x9E3779B97F4A7C15) & MASK
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & MASK
    return word ^ (word >> 31)


def term_hash(term: str) -> int:
    """Return the hash of a term: its length, then each code point mixed in."""
    word = len(term)
    for character in term:
        word = mixed(word ^ ord(character))
    return word


def tie_hash(seed: int, first: str, candidate: str) -> int:
    """Return the hash that orders candidates at the same distance from a first term."""
    return mixed(mixed(seed ^ term_hash(first)) ^ term_hash(candidate))
