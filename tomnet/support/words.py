"""Numbers in sentences."""


def counted(number: int, noun: str) -> str:
    """`1 agent`, `1,200 episodes`: for nouns whose plural ends in s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
