# What commands say while they work, and what `doctor` says.
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
    .repetitions = measuring { $count ->
            [one] once
           *[other] { $count } times
        }
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

## What `doctor` says of this machine

doctor =
    .build = linerate { $version }, { $commit }, { $target }
    .debug-build = linerate { $version }, { $commit }, { $target }, a debug build
    .label-system = system
    .label-interfaces = interfaces
    .label-programs = programs
    .label-settings = settings
    .label-sandbox = sandbox
    .label-state = state
    .unknown = unknown: { $failure }
    .without-ip = unknown: `ip` of iproute2 would tell, but it is missing or another program
    .system = { $name ->
            [absent] {""}
           *[other] { $name }{", "}
        }kernel { $kernel }, { $architecture }, { $processors } processors{ $memory ->
            [absent] {""}
           *[other] , { $memory } of memory
        }, { $rights }{ $mounts ->
            [absent] {""}
           *[other] , { $mounts }
        }{ $waits ->
            [absent] {""}
           *[other] , { $waits }
        }
    .as-root = as root
    .not-as-root = not as root
    .mounts-no-smb = cannot mount SMB shares
    .counts-no-waits = does not count waits for disks
    .interfaces = { $count } of { $driver }{ $medium ->
            [absent] {""}
           *[other] , { $medium }
        }{ $rate ->
            [absent] {""}
           *[other] , { $rate }
        }, MTU { $mtu }, { $state }
    .no-driver = no driver
    .cable = cable
    .wireless = wireless
    .tunnel = tunnel
    .bridge = bridge
    .program = { $name }: { $state } ({ $use })
    .is-there = is there
    .not-there = not there
    .settings = { $read } read, of which { $settable } can be set
    .settings-by-root = { $read } read, of which { $settable } can be set by root
    .refused = { $reason }: { $ids }
    .sandbox-complete = complete
    .sandbox-incomplete = incomplete: { $missing }
    .folder-named = the folder that LINERATE_STATE_DIR names
    .folder-of-root = root's folder
    .folder-of-user = the user's folder
    .state = { $folder }: { $runs ->
            [absent] no run files
           *[other] { $runs } run files
        }, { $changes } open changes{ $damaged ->
            [absent] {""}
           *[other] , { $damaged } damaged
        }
doctor-use =
    .ip = addresses, routes, MTUs
    .tc = queueing disciplines and shapers
    .ethtool = offloads, queues, counters of NICs
    .sysctl = settings of TCP
    .testparm = settings of a Samba server
    .iperf3 = raw TCP, where this is the server
    .fio = folders and disks of `bench`
    .ssh = hosts by `ssh://`
    .smbd = labs with a Samba server
    .kerberos = logins by ticket
    .kerberos-static = logins by ticket; a program without libraries cannot load it
