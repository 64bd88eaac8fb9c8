# What commands say that measure by a plan, a recipe or a search, and that read what was measured.
# An argument that may be missing is "absent" then.

## Errors

error-plan =
    .resume-through = this run mounts `{ $source }` for each trial
    .other-target = the test `{ $test }` of this run is no longer one of `{ $target }`: the run file says another share, or another mount of it
    .another-machine = `{ $host }` is another machine than the one that the experiment began on, or was installed anew
    .could-not-go-on = the experiment could not go on
    .each-level-sets = each level of `{ $factor }` must set `{ $field }`
    .field-number = `{ $field }` takes a number and not `{ $value }`
    .field-size = `{ $field }` takes a size such as `64 KiB` and not `{ $value }`
    .field-value = `{ $field }` does not take `{ $value }`
    .file-unread = cannot read `{ $path }`
    .is-a-table = `{ $path }` is a table, and it is not said what was measured
    .multiples-only = past the client's cache the disk takes multiples of { $size } only
    .needs-server = `{ $text }` needs a server that may be changed
    .no-candidate = there is no candidate named `{ $id }`
    .no-channels = `--channels` has no meaning here: `{ $target }` is no share
    .no-dialect = there is no dialect `{ $dialect }`
    .no-experiment = `{ $run }` holds no experiment to go on with
    .mount-options = `mount_options` is a field of what is measured through a mount: add `--through system`
    .mount-option = `{ $option }` is no option that a plan may vary; there are: { $known }, and `sign` and `seal` to be added
    .through-tcp = raw TCP has no client of a share: leave out `--through`
    .channels-of-mount = a mount has the channels that its options say
    .no-field = `{ $field }` is no field of this workload; there are: channels, streams, block, depth, threads, file_size, sessions, file (whole, sparse, one-block), signing (required, if-required, data-unsigned), signing_algorithm (HMAC-SHA256, AES-128-CMAC, AES-128-GMAC), encryption (on, off), cipher (AES-128-CCM, AES-128-GCM, AES-256-CCM, AES-256-GCM), dialect (2.0.2 to 3.1.1), source, receive_buffer, send_buffer, segment, congestion_control (reno, cubic, bbr), mount_options
    .no-figure-in-common = `{ $before }` and `{ $after }` have no figure in common
    .no-known-text = line { $line } of `{ $path }` is no text in UTF-8, UTF-16 or code page 932
    .no-pair = `{ $text }` is not of the form NAME=VALUE
    .no-preset = there is no preset `{ $name }`
    .no-random-numbers = the system has no random numbers: { $reason }
    .no-seconds = `--seconds` has no meaning here: { $recipe } ends when it is done
    .no-size = `{ $size }` is no size
    .persist-own-mount = the share is mounted at no folder, so there is nothing to write into `/etc/fstab`
    .fstab-other-share = the line of `{ $folder }` in `/etc/fstab` mounts another share than is mounted there
    .fstab-no-login = `/etc/fstab` has no line of `{ $folder }`, and a new one needs a file with user and password
    .fstab-changed = somebody else has changed the line of `{ $folder }` in `/etc/fstab` meanwhile
    .mount-dialect = `{ $option }` of `mount_options` is beyond `--dialect-min` and `--dialect-max`
    .no-such-fix = the check proposes no change named `{ $id }`
    .no-such-size = `{ $size }` is no size such as `64 MiB`
    .no-target = neither the plan nor the command line names a target
    .no-temporary-folder = cannot make a temporary folder
    .no-test = { $recipe } has no test `{ $test }`
    .not-a-host = `tcp://{ $host }` is not a host
    .not-analysable = what the plan makes cannot be analysed: { $reason }
    .not-measurable = `{ $response }` cannot be measured with { $level }
    .not-on-target = this does not run on `{ $target }`
    .not-put-back = what this experiment had set cannot be put back: { $settings }
    .nothing-runs = nothing of this can run here: { $reason }
    .nothing-to-vary = nothing of the plan can be varied here: { $reasons }
    .only-of-recipes = `--dry-run`, `--zeros`, `--through` and `--file-size` belong to a preset or a recipe
    .plan-line = the plan `{ $plan }`, line { $line }
    .plan-unclear = the plan `{ $plan }` cannot be understood: { $reason }
    .plan-unread = cannot read the plan `{ $plan }`
    .preset-or-recipe = a plan's workload has a `preset` or a `recipe`
    .published-of-none = something is published of `{ $test }`, and the plan has no such test
    .recipe-senseless = the recipe makes no sense: { $mistake }
    .recipe-unread = cannot read the recipe `{ $path }`
    .same-test = two tests of the recipe are called `{ $name }` where case does not count
    .sets-nothing = `{ $text }` sets nothing
    .several-files = several files are analysed only as arms of one comparison
    .stopped = stopped
    .unusable-files = cannot use `{ $files }`
    .workload-of-plan = the plan's workload: { $mistake }

## What to do about them

hint-plan =
    .add-preset = add for example `--preset cdm9`
    .add-target = add for example `--target smb://HOST/SHARE`
    .changes = see `linerate changes`
    .changes-and-run = see `linerate changes`; what was measured is in { $path }
    .examples = the plans in `plans/` are examples
    .fewer-files = write a recipe of your own with fewer files; `--dry-run` says how long it takes
    .file-size = write for example `--file-size '256 MiB'`
    .goes-on = `{ $command }` goes on with it
    .inspect-hosts = `linerate inspect HOST` shows what the hosts have
    .it-proposes = it proposes: { $names }
    .its-tests = its tests are { $names }
    .larger-blocks = write a recipe of your own with larger blocks, or with `cache = "buffered"`
    .more-time = give it more time with `--budget`, or shorter trials with `--seconds`
    .must-be-file = check the path and the rights; it must be a file
    .name-columns = name its columns with `--response COLUMN --factors COLUMN,COLUMN`
    .name-server = name it with `--server HOST`
    .part-of-it = analyse a part of it
    .plan-file = check the path and the rights; a plan is a text file of a page or two
    .recipe-file = check the path and the rights; a recipe is a text file of a page or two
    .recipe-line = `linerate bench TARGET --recipe FILE --dry-run` shows the line
    .recipe-of-plan = the recipe of a plan lies in the plan's folder or below it, without `..` and links
    .right-file = check that it is the right file; if it is a table, save it as CSV in UTF-8
    .same-tests = compare the same tests of the same program
    .smaller-numbers = take smaller numbers in the plan, or in its recipe
    .streams-or-threads = a recipe of your own says how many streams or threads there are
    .target-file = it needs a file: write `smb://HOST/SHARE`, a folder, or `disk:FOLDER`
    .target-tcp = it is raw TCP: write `tcp://ADDRESS[:PORT]` of a host with an `iperf3 -s`
    .tcp-address = write `tcp://ADDRESS` or `tcp://ADDRESS:PORT`
    .then = { $hint }; then { $again }
    .there-are = there are: { $names }
    .tune-help = see `linerate tune --help`
    .undo-tells-more = `linerate undo` tells more; then take the experiment up again
    .what-is-analysed = give a file that `check`, `bench`, `tune` or `experiment` wrote; results of iperf3, fio or hyperfine as arms, `NAME=FILE`; a table with `--response COLUMN --factors COLUMN,COLUMN`
    .what-is-left = what is left of the plan here is { $names }; left out: { $left_out }
    .max-channels = leave out `--channels`; `mount_options` of a plan may have `multichannel,max_channels=N`
    .persist-own-mount = mount it at a folder and name that, or leave out `--persist`
    .fstab-no-login = write them into a file that only root can read and that stays there, and name it by `--credentials FILE`
    .fstab-changed = look at the line, mount the share so, and repeat the command
    .resume-through = add `--through system` if that is your share
    .where-it-began = begin a new experiment, or go on with this one where it began
    .write-arms = write each as `NAME=FILE`; the first one is the baseline
    .write-pair = write for example `--only profile=default`
    .write-settings = write `client:nic.mtu@eth0=9000`, `server:smb.server.sendfile@media=on` or `workload:channels=2`

## What would be done, what is done, and what it gave

told-plan =
    .after-blocks = after { $blocks } blocks: { $known }
    .as-rules-say = all is as the rules of thumb say
    .baseline-again = { $arm } (baseline once more)
    .bench-takes = { $recipe } on { $target }: about { $seconds } s; nothing was run
    .bench-takes-and-file = { $recipe } on { $target }: about { $seconds } s and the time to write the test file; nothing was run
    .bench-takes-there = { $recipe } on { $target }: about { $seconds } s where the target moves 100 MB/s; nothing was run
    .block-of = block { $block } of { $blocks }: { $level }
    .cannot-tell = cannot tell
    .column-block = block
    .column-each = each
    .column-experiment = experiment
    .column-order = order
    .column-passes = passes
    .column-phase = phase
    .column-place = place
    .column-takes = takes
    .compared = { $name }: { $verdict }: { $ratio } x{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }] at { $confidence } %
        }, { $before } -> { $after } ({ $runs_before } and { $runs_after } runs)
    .complete = the experiment is complete; there is nothing to go on with
    .design = { $title }: { $form }, { $arms } arms
    .design-takes = seed { $seed }; about { $seconds } s; nothing was changed
    .design-takes-there = seed { $seed }; about { $seconds } s where the target moves 100 MB/s; nothing was changed
    .if-kept = if it is kept: { $warning }
    .kept = { $experiment }: kept: { $reason }
    .left-out = left out: { $factor }
    .never-found = A change of { $hoped } % cannot be found here by a thousand runs, as these differ by { $noise } % from run to run.
    .never-found-if = A change of { $hoped } % cannot be found here by a thousand runs, if runs differ by { $noise } %.
    .next = { $first }; { $next }
    .no-difference = no difference that matters
    .no-fix-promises = the check found no change that promises anything
    .nothing-to-try = there is nothing to try: { $reason }
    .pass-counted = { $test } { $direction }, pass { $pass } (counted)
    .pass-discarded = { $test } { $direction }, pass { $pass } (thrown away)
    .passes = { $passes } + { $discarded } thrown away
    .phase-same = same against same
    .profile-changes-nothing = the profile changes nothing here
    .recipe-on = { $recipe } on { $target }
    .repetition = { $direction }, repetition { $number }
    .returned = { $experiment }: returned: { $reason }
    .runs-needed = To find a change of { $hoped } %: { $runs } runs before and { $runs } after, as these differ by { $noise } % from run to run. Take them in turn: one before, one after, and so on.
    .runs-needed-if = To find a change of { $hoped } %: { $runs } runs before and { $runs } after, if runs differ by { $noise } %. Take them in turn: one before, one after, and so on.
    .mounts-with = nothing on a host: its trials mount the share with `{ $options }`
    .runs-nothing = nothing: it is a setting of the session only
    .runs-nothing-now = nothing: it is so now, or a setting of the session only
    .search-takes = seed { $seed }; { $fewest } to { $most } trials: the start against itself, a screening, a race, and the proof of what was found; nothing was changed
    .seconds = { $seconds } s
    .seconds-if-won = { $seconds } s if it wins
    .server-silent = what serving costs the server's processors is not known: { $host } does not tell
    .server-unnamed = what serving costs the server's processors is not known; `--server HOST` says where to look
    .trials-there = { $trials } trials are there already
    .tune-takes = seed { $seed }; { $least } to { $most } s; nothing was changed
    .until-done = until done
    .visit-measures = each visit measures: { $responses }
    .what-is-left = what is left is run as: { $form }
    .would-run = { $what } would run:
    .writes-at-most = at most { $size } there at one time, removed again; refused where a tenth more is not free
    .writes-file = writes one test file of { $size } into { $target }
    .writes-files = { $test }: { $task }, in a folder of its own in { $target }
