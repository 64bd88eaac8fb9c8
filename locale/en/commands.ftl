# What commands say while they work.
# An argument that may be missing is "absent" then.

## Progress

stage =
    .path = looking at the path
    .ladder = measuring which rung loses
    .cause = proving { $cause }
    .kind-of-limit = finding out what kind of limit it is
    .hidden-limits = looking for limits that hide each other
    .baseline = { $experiment }: baseline against itself ({ $trials } trials)
    .compare = { $experiment }: compare ({ $trials } trials)
    .confirm = { $experiment }: confirm on fresh trials ({ $trials } trials)
    .round = { $what } ({ $trials } trials)
    .repetitions = measuring { $count } times
step =
    .tcp = raw TCP { $direction }
    .share = share { $direction }
    .folder = folder { $direction }
    .login = login { $direction }
    .server-disk = server's disk { $direction }
    .copy = copy to a local disk { $direction }
    .small-files = small files { $direction }
    .setting = setting { $level }
    .block = block { $block }, arm { $arm }, { $direction }{ $discarded ->
            [absent] {""}
           *[other] , washing out
        }
    .restoring = putting everything back

## Remarks

trial-failed = a trial failed: { $reason }
server-untold = remark: { $server } tells nothing of itself, so the check goes on without: { $reason }
candidate-untried =
    .not-kept = not tried: `{ $id }` cannot be kept: { $reason }
    .too-many = not tried: `{ $id }`: there are more than { $most }
    .blocked = not tried: { $text }: { $reason }
    .budget = { $seconds } s are too short for all: not tried are { $names }
written-file =
    .run = run file: { $path }
    .report = report: { $path }
