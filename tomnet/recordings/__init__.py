"""Episodes from anywhere: one type for what was seen of any agent in a grid maze, and the formats it comes in.

A `Recording` is wider than the `Episode` of our own worlds: grids up to 32×32, square or not, any letters for objects,
any named actions, a heading where agents have one. It is plain numpy; only what steps our own worlds needs JAX.

    recording     the type, and the one check that everything passes
    moves         what named actions do, and which action explains a step
    events        what steps do to objects
    transcript    an episode as people write it down, and back: what `text` and `jsonl` share
    text, jsonl, shards, minari     the formats
    plain_file, hdf5    what is opened at all, and the arrays of a Minari file
    folder        everything in a file or folder, read one by one; what is broken is told and the rest still read
    scene, record, minigrid, worlds, terminal     episodes recorded as they happen
"""
