# Why something was not measured, failed, was kept or was put back, what a run notes, and what is wrong with its file.
# An argument that may be missing is "absent" then.

## Why a rung was not measured

unmeasured =
    .no-ceiling = no rate of the NICs in use is known that can be trusted
    .no-trial = no { $direction } trial was run
    .cached = direct I/O is not possible on this mount, so its rates may be those of the client's cache
    .our-end = our end `{ $address }` is on no NIC that is known

## Why a trial failed

trial-failure =
    .unexplained = it failed
    .no-bytes = it moved no bytes
    .of-block = block { $block }, { $response }: { $reason }
    .of-visit = { $phase }, block { $block }, { $arm }, { $direction }{ $discarded ->
            [absent] {""}
           *[other] , wash-out
        }: { $reason }
    .same = same against same
    .compare = compare
    .confirm = confirm
    .more = and more

## Why a candidate was kept, put back or not tried

decided =
    .clauses = { $clauses }
    .so-already = nothing to try: it is so already
    .baseline-differed = undecided: the baseline differed from itself ({ $effects }), so no difference here can be believed
    .few-blocks = undecided: too few blocks of the baseline against itself were measured ({ $direction }) to know the noise: { $reason }
    .nothing-measured = nothing was measured: { $reason }
    .costs = it costs something{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .not-proven = not proven{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .no-difference = it makes no difference that matters{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .blocks-needed = about { $blocks } blocks would settle it
    .trials-failed = { $count } trials failed
    .last-of-failed = { $count } trials failed; the last: { $reason }
    .compared = compare: { $effects }
    .all-blocks = all blocks: { $effects }
    .not-confirmed = not confirmed: { $reason }
    .not-borne-out = the fresh trials do not bear it out{ $reason ->
            [absent] {""}
           *[other] : { $reason }
        }
    .uncertain = what it costs in { $direction } is uncertain, because the baseline differed from itself there
    .put-back = put back because { $why }{ $before ->
            [absent] {""}
           *[other] ; before that: { $before }
        }
    .stopped = tune was stopped
    .could-not-go-on = tune could not go on ({ $reason })
    .no-time = no time was left
    .no-time-to-try = no time was left to try it: a trial takes { $seconds } s here
    .no-time-to-prove = no time was left to prove it
    .budget-too-short = the time of { $seconds } s is too short; `--budget` gives more
    .cannot-be-set = it cannot be set: { $reason }
    .screened-out = screened out: { $found }
    .at-most = at most { $ratio } x ({ $gain } % [{ $low }, { $high }] on top of the best that was found)
    .not-better = not better ({ $gain } % [{ $low }, { $high }] on top of the best that was found)
    .too-noisy = with trials that differ by { $noise } % from one to the next, less than { $least } % could not be proven
    .against-rest = against all the rest without it{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .against-rest-lost = against all the rest without it: { $reason }
    .rest-alike = `{ $id }` was part of the rest then, and has been put back since, as it makes no difference there
    .rest-gains = `{ $id }` was part of the rest then, and has been put back since, without which it was seen to gain as well
    .won-with-returned = it won twice, beside what was put back each time
    .against-start = all that is kept against the start{ $effects ->
            [absent] {""}
           *[other] : { $effects }
        }
    .against-start-lost = not confirmed against the start: { $reason }
decided-effect =
    .ratio = { $direction } { $ratio } [{ $interval }]
    .judged = { $direction } { $ratio } [{ $interval }] { $verdict }
    .no-interval = no interval

## What a run notes

run-note =
    .mount-so = $ { $command }
    .mount-at-start = `/etc/fstab` mounts `{ $folder }` so from the next start on; `linerate undo` puts its line back
    .baseline-differed = the baseline differed from itself ({ $effects }): what a change gains or costs there cannot be told, so changes are judged by the rest
    .put-back = { $why }; everything was put back and reads as at the start
    .not-put-back = not everything could be put back: { $reason }
    .screening = { $what }, noise of a trial { $noise } %; on average over the other candidates: { $effects }
    .screened = `{ $id }` { $effect } % (about { $error } % to either side)
    .race-decided = race of { $trials } trials: nothing else could be better by what matters
    .race-ended = race of { $trials } trials: no trials are left for more
    .kept = `{ $id }` is kept: { $warning }
    .tests-left-out = { $names } left out: { $reason }
search-round =
    .screening = screening of { $settings } settings
    .race = race of what could be best

## What is wrong with a run file

run-warning =
    .cut-line = line { $line } was cut off and is left out
    .unknown-kind = line { $line } has the unknown kind `{ $kind }` and is left out
    .more-unknown = { $count } more lines have unknown kinds and are left out
    .unfinished = the run did not end by itself; what is here is what it had by then
    .two-schedules = `{ $experiment }` has two schedules for `{ $phase }`; the first one counts
    .strays = { $count } trials belong to no schedule and do not count
    .many-workloads = only the first { $most } of its workloads are analysed
