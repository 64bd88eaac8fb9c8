# Errors of commands: what they begin with, and what is wrong with files.

failure =
    .error = error
    .because = because
    .chain = { $above }: { $below }
    .hint = hint
hint-file =
    .path = check the path, the rights and the room on the disk
    .folder = check the folder, the rights and the room on the disk
    .in-use = let it end there, or stop it there with Ctrl-C and type this again
    .altered = the file was altered; use an undamaged copy of it
    .too-large = give a file that linerate wrote itself; a longer experiment is made of several runs
    .not-a-run = give a file that `check`, `bench`, `tune` or `experiment` wrote
