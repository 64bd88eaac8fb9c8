# What a report says beside its conclusions: names, rows, headings, experiments.
# An argument that may be missing is "absent" then.

## Words

direction =
    .read = read
    .read-explained = read, server to client
    .write = write
    .write-explained = write, client to server
rung =
    .ceiling = ceiling
    .tcp = raw TCP
    .streams = streams
    .share = share
    .channels = channels
    .system-client = mount
    .system-program = program
    .system-copy = cp
    .disk = disk
    .copy = copy
    .in-direction = { $rung } { $direction }
place =
    .share = share
    .folder = folder
    .disk = disk
    .once = once
phase =
    .same = A against A
    .compare = compare
    .confirm = confirm
    .all = all blocks
verdict =
    .better = better
    .worse = worse
    .equivalent = equivalent
    .undecided = undecided
list = { $first } and { $last }
count =
    .blocks = { $count ->
            [one] { $count } block
           *[other] { $count } blocks
        }
    .changes = { $count ->
            [one] { $count } change
           *[other] { $count } changes
        }
    .channels = { $count ->
            [one] { $count } channel
           *[other] { $count } channels
        }
    .cores = { $count ->
            [one] { $count } core
           *[other] { $count } cores
        }
    .files = { $count ->
            [one] { $count } file
           *[other] { $count } files
        }
    .folders = { $count ->
            [one] { $count } folder
           *[other] { $count } folders
        }
    .frames = { $count ->
            [one] { $count } frame
           *[other] { $count } frames
        }
    .players = { $count ->
            [one] { $count } player
           *[other] { $count } players
        }
    .resent = { $count ->
            [one] { $count } segment sent again
           *[other] { $count } segments sent again
        }
    .streams = { $count ->
            [one] { $count } stream
           *[other] { $count } streams
        }
    .threads = { $count ->
            [one] { $count } thread
           *[other] { $count } threads
        }
    .times = { $count ->
            [one] { $count } time
           *[other] { $count } times
        }
    .trials = { $count ->
            [one] { $count } trial
           *[other] { $count } trials
        }

## Headings

heading =
    .why = why
    .fixes = what to try
    .not-measured = not measured
    .noise = noise
    .screened-out = screened out
    .not-tried = not tried
    .left-changed = left changed
    .to-know = to know
    .rates = where the rate goes
    .measured = what was measured
    .every-trial = every trial

## The first sentence

headline-of-run =
    .nothing = nothing was measured, so nothing can be said
    .no-measurement = nothing was measured
tuned =
    .unsteady = ; the machine was too unsteady for fine differences
    .unsteady-and-not-kept = ; the machine was too unsteady for fine differences, so what was not kept may still help
    .undecided = nothing is decided yet{ $warning ->
            [absent] {""}
           *[other] { $warning }
        }
    .kept-nothing = kept nothing of { $planned }: no change is proven better{ $warning ->
            [absent] {""}
           *[other] { $warning }
        }
    .kept-together = kept { $kept } of { $planned }, which together give { $proven }: { $names }{ $warning ->
            [absent] {""}
           *[other] { $warning }
        }
    .kept = kept { $kept } of { $planned }: { $each }{ $warning ->
            [absent] {""}
           *[other] { $warning }
        }
    .one = `{ $change }` ({ $proven })
proven =
    .ratio = { $direction } { $ratio }
    .same = { $direction } as before
    .unknown = { $direction } cannot be told
untried = nothing was tried
    .alarm = nothing was tried: the machine is too unsteady, the same came out different from itself
    .nothing-promises = kept nothing of { $planned }: none promises anything that can be proven
    .reason = nothing was tried; { $reason }
    .all = nothing of { $planned } was tried
alert =
    .cut-short = this run was cut short: it says only what was measured until then. hint: `linerate changes` shows whether something is still changed
    .noise = the baseline came out different from itself ({ $direction } { $ratio }): no result of it below can be believed. hint: run it again when nothing else uses the network
    .not-restored = change `{ $change }` was undone, but the hosts do not read back as before it. hint: `linerate changes` shows what is still changed
    .run-file = run file: { $warning }
    .more-than-fits = { $first }{ $others ->
            [absent] {""}
           *[other] {" "}and { $others } more
        }: more than the { $rate } that fit through the NICs in use: the link is not what its facts say, or the bytes took another way

## The ladder

interval = interval
    .at = interval, { $confidence }
    .computed = computed
    .few-trials = too few trials
    .few-blocks = too few blocks
of-ceiling = of ceiling
    .share = { $share } of ceiling
ceiling = ceiling{ $directions ->
        [absent] {""}
       *[other] {" "}of { $directions }
    }: { $because }
    .of-links = ceiling of { $rung }{ $directions ->
        [absent] {""}
       *[other] {" "}({ $directions })
    }: { $rate }, by all links together that are used there
small-files = a small file ({ $direction }): { $each }{ $requests ->
        [absent] {""}
       *[other] , as long as { $requests } small requests
    }; { $files } files/s one after the other
line-at-mtu = { $rate } at MTU { $mtu }
ends = `{ $nic }` to `{ $address }`
    .address = the one to `{ $address }`
    .numbered = { $ends } (number { $number } there)
idle-channels = of { $count } channels at once ({ $direction }): { $idle }
    .one = { $channel } carried { $rate }{ $full ->
            [absent] {""}
           *[other] ; its NICs are { $full } full
        }
not-measured = not measured
    .rung = { $rung } { $directions }: { $reason }
    .candidate = `{ $name }`: no trial of it was run
session = SMB { $dialect } as { $identity }, { $protection }, { $channels }
    .of-share = share: { $session }
identity =
    .user = a user
    .guest = a guest
    .anonymous = nobody
protection =
    .encrypted = encrypted with { $algorithm }
    .signed = signed with { $algorithm }
    .signed-but-data = signed with { $algorithm } but for the data
    .none = neither signed nor encrypted

## Causes and remedies

no-cause = no cause is known
    .complete = no rung loses
cause-state =
    .computed = computed from facts
    .measured = measured in this run
    .relieved = proven: { $gain } without it
    .binding = proven: less of it costs as much
    .suspected = suspected; to decide: { $decides }
    .unknowable = not knowable from here: { $needs }
    .unknowable-so-far = not knowable from here
    .ruled-out = ruled out
more =
    .in-report = and { $count } more in the report
    .details = { $count } more in the report
    .in-run-file = and { $count } more in the run file
prediction = { $ratio } predicted
    .none = its gain cannot be predicted
fix-row =
    .tune = hint: `{ $command }` tries them and keeps what it proves
    .tune-explained = `{ $command }` tries them one by one in a fair experiment and keeps only what it proves.
    .disturbs = disturbs:
    .cannot-be-tried = cannot be tried here:
    .sets = sets

## Experiments

question =
    .baseline = how much does the same differ from itself?
    .faster = is `{ $change }` faster than `{ $a }`?
    .faster-with = is `{ $a }` faster with `{ $change }` than without?
difference =
    .factor = a factor of { $factor }
effect =
    .better = better
    .worse = worse
    .equivalent = no difference that matters:
    .undecided = cannot tell yet:
    .by = by { $difference }
    .by-factor = by a factor of { $ratio }
    .matters-from = { $difference }, and a difference matters from { $band }{ $blocks ->
            [absent] {""}
            [one] ; about { $blocks } more block would tell
           *[other] ; about { $blocks } more blocks would tell
        }
    .nothing-compared = nothing was compared
    .cannot-be-told = cannot be told: { $medians }
decision =
    .together = this is all that is kept, against the start on fresh trials
    .together-not-proven = put back: not proven against the start
    .none = not decided
    .kept = kept: { $reason }
    .kept-in-the-rest = kept: all the rest is slower without it
    .kept-alone = kept: better than the start, on fresh trials
    .returned = put back: { $reason }
    .in-full = in full:
won =
    .proven = proven better
    .better = { $count ->
            [one] { $directions } is better
           *[other] { $directions } are better
        }
    .of-which-fresh = { $what } in { $blocks }, of which { $fresh } were fresh
    .again = { $what } in { $blocks }, and again in { $again } fresh ones
noise-floor = baseline against itself { $ratio }{ $floor ->
        [absent] {""}
       *[other] ; { $floor }
    }
    .alarm = that is no noise, and no difference in it can be believed
    .finds-nothing = unsteady: finds no difference at all
    .unsteady = unsteady: finds differences only from { $difference } on
    .steady = steady: finds differences from { $difference } on
processor-cost = processor of the client { $client }, of the server { $server } s for each GB
    .of-client = processor of the client { $client } s for each GB
    .of-server = processor of the server { $server } s for each GB
    .server = the server { $cost }
left =
    .advice = `{ $name }` is how a client should use the share (`{ $field }` { $value }); no host was changed for it
    .mount = `{ $name }` was measured on mounts of linerate's own; what is mounted stays as it is. To have it:
    .unknown = not known: the run was cut short. `linerate changes` shows what is still changed, `linerate undo` puts it back
    .nothing = no setting of a host is changed by this run
    .stays = these stay until a reboot; with `--persist`, or by `linerate set --persist`, they outlast it. { $undo } puts all of it back
    .stays-samba = these are lines of Samba's configuration and outlast a restart. { $undo } puts all of it back
    .stays-both = what is Samba's outlasts a restart, and the rest stays until then; with `--persist`, or by `linerate set --persist`, that outlasts it too. { $undo } puts all of it back
knob-line = `{ $id }` { $value } on `{ $host }`: { $targets }
workload-line = `{ $field }` { $value } in linerate's own transfers
    .mount = mounted with `{ $value }`

## What a reader must know

caveat =
    .every-rung = every rung
    .fixes = { $count ->
            [one] fix { $names }
           *[other] fixes { $names }
        }
    .noise = noise
    .arm = arm { $arm } { $direction } ({ $phase })
    .processor-time = processor time of { $name }
change =
    .opened = change `{ $id }` was opened
    .restored = change `{ $id }` was opened, undone, and reads back as before it

## Workloads

trial-workload =
    .tcp = raw TCP { $direction }, { $streams }, to { $server } port { $port }{ $nic ->
            [absent] {""}
           *[other] {" "}by { $nic }
        }
    .folder = { $kind } { $folder } { $direction }, { $depth } under way in { $threads } of { $block } each, file of { $size }
    .task = { $place } { $direction }: { $task }
    .enter = the share, entered and left
    .read-once = a file of the share, read once
    .copy = a file of the share, copied { $times } times to the client
    .small-files = { $count } files of { $size }, { $direction }
    .share = share { $direction }, at most { $channels }, { $depth } in flight of { $block } each, file of { $size }
task =
    .sizes = { $least } to { $most }
    .copy-one = copies one file of { $each }{ $program ->
            [absent] {""}
           *[other] {" "}with `{ $program }`
        }
    .copy = copies { $files } of { $each } in { $folders }, { $all } in all{ $program ->
            [absent] {""}
           *[other] {" "}with `{ $program }`
        }
    .create = makes { $files } without content
    .open = opens and closes { $files }
    .remove = removes { $files }
    .lock = takes and gives back { $times } locks
    .stream = moves one file of { $each } from begin to end
    .list = lists { $files } { $times }
    .play = plays { $frames } of { $frame } a second to { $players }, { $ahead } ahead, from { $all } in all
bench =
    .no-repetition = no repetition was measured
    .failed = failed:
    .median = median
    .at-confidence = { $estimate } at { $confidence }
    .few-repetitions = { $estimate }, too few repetitions for an interval

## How it was measured

method =
    .ladder = ladder: each rung is the median of up to { $trials }, each with a fresh connection; the ceiling is computed from the facts of the hosts
    .experiments = experiments: blocks of one trial per arm in random order, compared pair by pair; an effect is a ratio (Hodges-Lehmann on log differences); a difference matters from { $band }; confidence asked { $confidence }
    .seed = the order of everything random comes from seed { $seed }, which is in the run file
    .blocks = `{ $change }`: { $parts }{ $confidence ->
            [absent] {""}
           *[other] ; confidence really reached { $confidence } or more
        }
    .no-block = no whole block
    .title = how it was measured, and how to repeat it
    .written-by = written by { $program }, begun { $started }
    .repeat = to repeat: { $command }

## The page

page =
    .title = { $command } of { $subject }
    .footer = MB is 10⁶ bytes, MiB is 2²⁰ bytes. Numbers in brackets are intervals, [low, high]. A ratio above 1 is better.
    .rate-and-share = , rate and share of the ceiling
    .experiment = experiment { $number }: { $question }
    .noise = noise: { $question }
    .effect = , rate of B over rate of A with its interval, on a logarithmic axis
    .band = no difference that matters: within { $band }
    .first-look = hollow: first look
    .counts = filled: the effect that counts
    .medians = lines are medians
    .axis-cut = ; the vertical axis does not begin at zero
    .blocks-in-order = , MB/s, blocks in the order in which they ran
    .trial-numbers = numbers of every trial
    .one-repetition = one repetition
    .interval-of-median = interval of the median
    .line-is-median = the line is the median; the vertical axis does not begin at zero
    .repetitions-in-order = , MB/s, in the order in which they ran
    .hosts = the hosts at the start
    .no-host = no host was looked at
    .client = client
    .server = server
    .kernel = kernel { $kernel }
    .memory = { $size } of memory
    .congestion-control = TCP congestion control { $name }
    .receive-buffer = TCP receive buffer up to { $size }
    .shaped = shaped to { $rate }
column =
    .rung = rung
    .rate = rate
    .interval = interval
    .bits = as bits
    .of-ceiling = of ceiling
    .of-above = of rung above
    .confidence = confidence
    .trials = trials
    .response = response
    .part = part
    .effect = effect
    .b-over-a = B over A
    .blocks = blocks
    .verdict = verdict
    .arm = arm
    .median = median
    .cpu = CPU
    .server-cpu = CPU of the server
    .resent = sent again
    .trials-by-block = trials in MB/s, by block
    .workload = workload
    .repetitions = repetitions in MB/s
    .link = link
    .speed = speed
    .addresses = addresses
    .driver = driver
    .queues = queues rx/tx
state =
    .up = up
    .down = down
    .unknown = not known
    .on = on
    .off = off
noise-verdict =
    .alarm = different: nothing can be believed
    .unsteady = too unsteady for fine differences
    .steady = as it should be
