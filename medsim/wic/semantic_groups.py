"""The semantic groups of UMLS: each has some of the types of the Semantic Network.

McCray, Burgun and Bodenreider, MEDINFO 2001; types that the network had before are included.
"""

from __future__ import annotations

_TYPES_OF = {
    "Activities & Behaviors": "051 052 053 054 055 056 057 064 066",
    "Anatomy": "017 018 021 022 023 024 025 026 029 030 031",
    "Chemicals & Drugs": "103 104 109 110 111 114 115 116 118 119 120 121 122 123 124 125 126 127 "
    "129 130 131 192 195 196 197 200",
    "Concepts & Ideas": "077 078 079 080 081 082 089 102 169 170 171 185",
    "Devices": "074 075 203",
    "Disorders": "019 020 033 037 046 047 048 049 050 184 190 191",
    "Genes & Molecular Sequences": "028 085 086 087 088",
    "Geographic Areas": "083",
    "Living Beings": "001 002 003 004 005 006 007 008 009 010 011 012 013 014 015 016 096 097 098 "
    "099 100 101 194 204",
    "Objects": "071 072 073 167 168",
    "Occupations": "090 091",
    "Organizations": "092 093 094 095",
    "Phenomena": "034 038 067 068 069 070",
    "Physiology": "032 039 040 041 042 043 044 045 201",
    "Procedures": "058 059 060 061 062 063 065",
}

GROUP_OF = {
    f"T{number}": group for group, numbers in _TYPES_OF.items() for number in numbers.split()
}
"""The group of each type, by the type's identifier, such as T047."""
