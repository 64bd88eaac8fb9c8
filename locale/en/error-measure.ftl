# Errors of trials and of labs, and what to do about them.
# An argument that may be missing is "absent" then.

## Trials

error-measure =
    .usage = the trial cannot be run as asked: { $reason }
    .input = the trial's input cannot be understood from its byte { $column } on
    .stopped = the trial was stopped
    .recipe = the recipe `{ $name }` cannot be used: { $reason }
    .recipe-line = line { $line } is none of a recipe
    .no-size = there is no size `{ $size }`; there are: { $sizes }
    .connect = cannot connect to `{ $address }`
    .nic = cannot use the interface `{ $nic }` for the connection
    .not-agreed = `{ $server }` agreed to { $agreed } where { $demanded } was demanded
    .silence = no payload at all came through in { $counted } between us and `{ $server }`
    .too-slow = nothing that can be counted was done with `{ $server }` in { $limit }: it takes longer
    .disagreement = `{ $server }` says that { $far } bytes passed, we count { $ours }: neither can be believed
    .talk-to = cannot talk to `{ $server }`
    .hear-from = cannot hear from `{ $server }`
    .listen-to = cannot listen to `{ $server }`
    .hear-end = cannot hear the end from `{ $server }`
    .move-data = cannot move data between us and `{ $server }`
    .open-stream = cannot open a data stream to `{ $server }`
    .busy = the iperf3 server `{ $server }` is busy with another test
    .server = the iperf3 server `{ $server }` reports its error { $code }{ $system ->
            [absent] {""}
           *[other] {" "}({ $system })
        }
    .ended = the iperf3 server `{ $server }` ended the test before its time
    .protocol = `{ $server }` does not speak the iperf3 protocol: { $reason }
    .protocol-state = state { $found } where { $wanted } is due
    .protocol-results = results of { $bytes } bytes
    .protocol-unclear = its results cannot be understood ({ $problem })
    .protocol-stream = a stream of { $bytes } bytes in its results
    .protocol-streams = results of { $streams } streams
    .protocol-again = it says twice that the test runs
    .no-iperf = there is no `iperf3` on the host that is to serve raw TCP
    .far-server = cannot start `iperf3` as a server: { $reason }
    .server-silent = it does not listen after { $limit }
    .server-gone = it has ended
    .server-status = it ended with status { $status }
    .no-tcp = raw TCP was not measured
    .no-iperf-server = there is no iperf3 server that answers, and linerate may not run commands there
    .no-fio = there is no `fio` on the client, which tests folders and disks
    .fio = `fio` cannot be believed: { $reason }
    .fio-output = its results are not what `--output-format=json` gives
    .fio-nothing = it moved nothing in the counted time
    .fio-late = it did not end within { $limit }
    .fio-status = it ended with status { $status }: { $said }
    .no-space = there is no room for the test file on `{ $share }`: it takes { $needed } bytes with some to spare, and { $available } are free
    .test-file = cannot make a test file in `{ $folder }`
    .second-mount = `{ $share }` cannot be mounted for the test: { $reason }
    .second-mount-root = only root may mount
    .second-mount-user = this login cannot be passed to `mount.cifs`
    .second-mount-status = `mount.cifs` ended with status { $status }: { $said }
    .second-mount-comma = its path has a comma, which `mount.cifs` takes for the begin of an option
    .second-mount-missing = there is no `mount.cifs` (package `cifs-utils`)
    .second-mount-elsewhere = it was mounted elsewhere
    .own-mounts = cannot get mounts of our own
    .no-file = there is no file of { $least } MB or more on `{ $share }` that could be read
    .no-file-up-to = there is no file of { $least } to { $most } MB on `{ $share }` that could be read
    .nothing-to-read = there is no file of { $least } MB or more on `{ $share }` that could be read, and none can be made
    .no-disk = the share is in the server's memory ({ $file-system }), so there is no disk to read from
    .late = the trial took longer than { $limit } and was ended
    .no-result = `{ $program } trial` ended without a result, status { $status }
    .no-program = there is no `{ $program }` on the client host
    .nonsense-of-probe = `{ $program } probe` does not talk as it should
    .nonsense-of-trial = `{ $program } trial` does not talk as it should: { $reason }
    .endless-line = a line of { $bytes } bytes without an end
    .measured-for-kept = a test file was to be kept and something was measured
    .start-thread = cannot start a thread
    .random = cannot get random bytes
    .file-system = cannot look at the file system
    .free-space = cannot ask for free space
    .lock-file = cannot lock a file
    .write-test-file = cannot write the test file
    .sync-copy = cannot write the copy to its disk
    .echo-socket = cannot open a socket for echo requests
    .read-targets = cannot read what to probe
    .write-proofs = cannot write what was proven
    .close-inherited = cannot close what was inherited
    .give-up-rights = cannot give up all rights
    .look-at-folder = cannot look at the folder
    .take-socket = cannot take up the socket
    .read-input = cannot read the trial's input
    .worker-socket = cannot make a socket for the trial's process
    .start-worker = cannot start the trial's process
    .instruct-worker = cannot say to the trial's process what to do
    .watch-worker = cannot watch the trial's process
    .await-worker = cannot wait for the trial's process
    .worker-end = cannot run the trial's process to its end
    .usage-segment = segments of { $bytes } bytes; { $least } to { $most } are possible
    .usage-buffer = a buffer of { $bytes } bytes; { $least } to { $most } are possible
    .usage-source = no connection leaves from { $source }
    .usage-spans = it may warm up and count for { $most } each at most
    .usage-interval = its interval of { $interval } must be { $least } at least and not longer than the counted time of { $measured }
    .usage-samples = it would give more than { $most } samples
    .usage-threads = { $threads } threads; 1 to { $most } are possible
    .usage-under-way = { $operations } operations under way; 1 to { $most } are possible
    .usage-opposite = `other_way_percent` must be 0 to 99; where all operations are to go the other way, turn the direction round
    .usage-streams = { $streams } streams; 1 to { $most } are possible
    .usage-channels = { $channels } channels; 1 to { $most } are possible
    .usage-sessions = { $number } { $of ->
            [connections] connections of a session
           *[sessions] sessions
        } with { $depth } requests in flight; 1 to { $most } are possible, each connection with one at least
    .usage-depth = { $depth } requests in flight; 1 to { $most } are possible
    .usage-memory = its requests in flight would take { $memory } bytes of memory
    .usage-request = requests of { $bytes } bytes; { $least } to { $most } are possible
    .usage-operation = operations of { $bytes } bytes; { $least } to { $most } are possible
    .usage-past-cache = operations of { $bytes } bytes past the cache; they must be a multiple of { $sector }
    .usage-past-cache-of-disk = operations of { $bytes } bytes past the cache; the disk takes multiples of { $least }
    .usage-file-below-request = a test file of { $bytes } bytes is shorter than one request
    .usage-file-below-operation = a test file of { $bytes } bytes is shorter than one operation
    .usage-dialects = its oldest dialect is newer than its newest
    .usage-algorithm = its newest dialect does not have that algorithm
    .usage-operations = `operations` are possible in one session only, and on a test file that is random throughout (`file` is `whole`)
    .usage-sparse = what is written is not sparse
    .usage-path = `{ $path }` is not a whole path
    .usage-no-mount = `{ $folder }` is no mounted share (any more): its file system is { $file-system }
    .usage-no-disk = `{ $folder }` is on { $file-system } and not on a disk
    .usage-no-near = no folder of this machine was made for the copy
    .usage-copies-between-folders = { $program } copies from folder to folder: name one in which the share is mounted, or leave `by` out of the task
    .usage-reads-only = this task can only read
    .usage-writes-only = this task can only write
    .usage-other-bytes = the server gives other bytes of `{ $path }` than it was given
hint-measure =
    .recipe = the recipes in `plans/recipes/` are examples; `linerate bench --help` lists the presets
    .preset-as = write it as `{ $example }`
    .connect = `ip route get { $address }` on the client shows the way it takes
    .connect-refused = nothing listens on port { $port } there: start it, or check the port
    .connect-silent = is the host on, is it `{ $address }`, and does a firewall let port { $port } through?
    .nic = `ip link show { $nic }` on the client shows whether it is there and up
    .no-space = make room there, or ask for a smaller test file
    .busy = it serves one test at a time: wait, or start another with `iperf3 -s -p PORT`
    .silent-server = it is there but does not answer: does somebody else keep it busy?
    .server-output = its own output on the server says more
    .protocol = start a server with `iperf3 -s` there, version 3.1 or newer
    .silence = something on the way drops full packets: is the MTU the same all along the path?
    .nothing-to-read = name a folder of the share that has a large file in it, or one that you may write to
    .no-file = name a folder of the share that has a large file in it
    .no-fio = install it there: `apt install fio`, `dnf install fio`, `pacman -S fio` or `brew install fio`; a share needs none when it is named as `smb://HOST/SHARE`
    .test-file = the folder must be there, and you need the right to write in it
    .no-iperf = install it there: `apt install iperf3`
    .run-iperf = run `iperf3 -s -p { $port }` on the server, or name it by `--server`
    .late = look whether the server still answers
    .no-program = linerate has to be installed on the client, and only there
    .same-version = is it the same version of linerate on both hosts?
    .unknown-host = check the spelling, or use the server's address in place of its name
    .referred-here = name that share itself if it is meant
    .port-closed = is a file server running on `{ $server }`? SMB usually listens on port 445, and here port { $port } was tried
    .unreachable = is the host on, and does a firewall let port { $port } through? `ip route get { $address }` on the client shows the way it takes
    .login-refused = check user name and password; `smbclient -L //{ $server } -U { $user }` tries the same login
    .guest-only = `{ $server }` does not know the user `{ $user }`: check the name, make the user there, or go in with `--guest`, without any protection
    .shares = its shares are { $shares }
    .shares-more = its shares are { $shares } and { $more } more
    .listed-share = the server lists `{ $share }` all the same: its folder may be missing there, or closed to this user
    .no-such-share = `linerate ls smb://USER@{ $host }` lists the shares of `{ $server }`
    .escaped-share = write names as they are, with spaces and all; `linerate ls smb://USER@{ $host }` lists the shares of `{ $server }`
    .access-denied = the test file is made on the share: the user needs the right to write there
    .access-denied-later = try again, in a new session; if access is denied there too, check the rights of the user on the server
    .not-found = the folder for the test file must exist on the share
    .local-disk-full = make room there; nothing that looks complete was left
    .elsewhere = name that server instead: { $targets }
    .or = { $first }, or { $rest }
    .only-smb1 = turn on SMB 2 or 3 at the server, as `server max protocol = SMB3` of Samba does, or update its software
    .incompatible = ask for less with `--dialect-min`, `--dialect-max`, `--sign` or `--encrypt`, or turn it on at the server
    .small-requests = let the server take larger requests (Samba: `smb2 max read`, `smb2 max write`, `smb2 max trans`, which are 8 MiB by default)
    .connection-lost = the server's own log says whether it or the network ended it
    .no-realm = write the user as `user@REALM`, or give a domain
    .kdc-unreachable = `--kdc HOST` names another KDC; `--ntlm` logs in without one, where that is allowed
    .kdc-name = write it as `host` or `host:port`
    .full-name = use the server's full name, as its domain knows it, and not an alias or address
    .user-and-domain = check user name and domain
    .password = check the password
    .clocks = set the clocks of this machine, the server and the KDC
    .new-password = a new password gives the account AES keys
    .ask-domain = ask who runs the domain
    .static-program = this program is one without libraries and cannot load any: install the Debian package, build it on this system (`cargo install`), or log in with a password
    .kerberos-library = install MIT Kerberos (`libgssapi-krb5-2` of Debian, `krb5-libs` of Fedora), or log in with a password
    .own-cache = remove it, or name your own cache in KRB5CCNAME
    .not-asked-for = `--kerberos` uses it all the same, or name it in KRB5CCNAME
    .no-ticket = `kinit USER@REALM` gets tickets, and `klist` shows what there is
    .kdc-of-system = `krb5.conf` or the name service names the KDC: check both, and the network to it
    .new-ticket = `kinit` gets new tickets; the server may have a new key, or another clock

## Labs

error-lab =
    .read-topology = cannot read the topology `{ $path }`
    .topology = { $origin }, line { $line }: { $problem }
    .name = a lab cannot be named `{ $name }`: { $rule }
    .name-length = a name has 1 to { $most } characters
    .name-characters = a name consists of `a` to `z`, `0` to `9` and `-`, starts with a letter and does not end with `-`
    .only-linux = a lab needs Linux
    .not-root = a lab needs root's rights
    .not-installed = a lab needs the program `{ $program }`, which is not installed
    .name-taken = a lab named `{ $name }` is up already
    .no-lab = there is no lab named `{ $name }`
    .no-scenario = there is no scenario named `{ $name }`
    .no-host = the lab `{ $lab }` has no host named `{ $host }`
    .starting = the lab `{ $name }` is still starting
    .no-share = the lab `{ $lab }` has no share
    .guest = cannot run a command with a mount on `{ $host }`: { $said }
    .prepare-guest = cannot prepare a kernel for `{ $subject }`
    .talk = cannot talk with the lab `{ $name }`
    .not-up = the lab `{ $name }` did not come up: { $reason }
    .still-there = the lab `{ $name }` was ended, but { $count } of its processes are still there after { $waited }: { $processes }
    .samba-silent = the Samba server on `{ $host }` does not answer at { $address } ({ $refused }); the end of its log: { $log }
    .samba-ended = the Samba server on `{ $host }` ended at once; the end of its log: { $log }
    .log-unreadable = it cannot be read ({ $problem })
    .find-file = cannot find the file of `{ $subject }`
    .this-program = this program
    .start-supervisor = cannot start the supervisor of `{ $subject }`
    .look-for-processes = cannot look for the processes of `{ $subject }`
    .list = cannot list `{ $subject }`
    .reach = cannot reach `{ $subject }`
    .run-program = cannot run a program on `{ $subject }`
    .close-inherited = cannot close what was inherited by `{ $subject }`
    .report = cannot report to whoever started the lab `{ $subject }`
    .read-topology-of = cannot read the topology of `{ $subject }`
    .leave-folder = cannot leave the folder of `{ $subject }`
    .show-group = cannot show the control group of `{ $subject }`
    .inject-fault = cannot inject a fault on `{ $subject }`
    .serve-disk = cannot serve the disk `{ $subject }`
    .make-tap = cannot make the TAP device `{ $subject }`
    .set-link-modes = cannot set the link modes of `{ $subject }`
    .make-domain = cannot make the domain on `{ $subject }`
    .await-users = the server on `{ $subject }` did not get to know the users of its domain in time
    .make-namespaces = cannot make the namespaces of `{ $subject }`
    .separate-files = cannot separate the files of `{ $subject }`
    .read = cannot read `{ $subject }`
    .write = cannot write `{ $subject }`
    .random = cannot get random bytes from `{ $subject }`
    .the-kernel = the kernel
    .make-links = cannot make the links of `{ $subject }`
    .the-lab = the lab
    .set-up-links = cannot set up the links of `{ $subject }`
    .choose-congestion-control = cannot choose the congestion control of `{ $subject }`
    .set-line-rate = cannot set the line rate of `{ $subject }`
    .watch-links = cannot watch the links of `{ $subject }`
    .keep-busy = cannot keep busy `{ $subject }`
    .listen-for-traffic = cannot listen for traffic at `{ $subject }`
    .sweep-up = cannot sweep up after `{ $subject }`
    .limit-host = cannot limit a host by the control group `{ $subject }`
    .start-delay-line = cannot start the delay line of `{ $subject }`
    .a-link = a link
    .show-configuration = cannot show the configuration of Samba on `{ $subject }`
    .add-user = cannot add a user on `{ $subject }`
    .start-samba = cannot start Samba on `{ $subject }`
    .make-samba-folders = cannot make the folders of Samba on `{ $subject }`
    .make-samba-disk = cannot make the disk of Samba on `{ $subject }`
    .find-device = cannot find the device of `{ $subject }`
    .hostless = there is no host
    .not-a-name = `{ $field } = { $given }` is not a name
    .unknown = `{ $field } = { $given }` does not exist
    .taken = `{ $field } = { $given }` is taken
    .repeated = `{ $field } = { $given }` is there twice
    .out-of-range = `{ $field } = { $given }` is out of range
    .not-a-size = `{ $field } = { $given }` is not a size
    .not-complete = `{ $field }` is not complete
    .host-and-switch = `{ $field }` is a switch and a host at once
    .not-a-nic = `{ $field }.nic = { $given }` cannot be the name of a NIC
    .not-of-a-host = `{ $field }.address = { $given }` is not an address of a host
    .not-a-rate = `rate = { $given }` is not a line rate
    .needs-rate = `link.{ $field }` needs `link.rate`
    .no-rate-of-nic = `link.could = { $given }` is no rate of a NIC
    .rate-not-of-nic = `link.could` needs a `link.rate` that NICs agree on
    .ring = `link` makes a ring of switches
    .same-nic = host `{ $host }` has two NICs named `{ $nic }`
    .same-address = address `{ $address }` is used by `{ $nic }` of `{ $host }` already
    .with-itself = `link` joins `{ $host }` with itself
    .other-subnet = `{ $one }` and `{ $other }` are not in the same subnet
    .no-link = `samba.host = { $given }` has no link
    .not-a-realm = `domain.realm = { $given }` is not a realm
    .no-controller = `samba.host = { $given }` cannot be a domain controller
    .not-of-memory = memory has no `share.{ $field }`
    .unknown-parameter = { $given } is not a parameter of Samba that a lab sets
    .not-of-parameter = `{ $parameter }` does not take this value
    .not-a-title = `lesson.title` is not a title
    .too-many-hosts = { $count } hosts are more than the { $limit } that a lab may have
    .too-many-switches = { $count } switches are more than the { $limit } that a lab may have
    .too-many-links = { $count } links are more than the { $limit } that a lab may have
    .too-many-faults = { $count } faults are more than the { $limit } that a lab may have
    .too-many-shares = { $count } shares are more than the { $limit } that a lab may have
    .too-many-parameters = { $count } parameters are more than the { $limit } that a lab may have
    .too-many-users = { $count } users are more than the { $limit } that a lab may have
    .too-many-causes = { $count } causes are more than the { $limit } that a lab may have
    .fault-runs = a fault cannot run a command: `fault.run` is not known
    .several-faults = a fault is one thing, and this one is several
    .no-fault = a fault is one thing, and this one is none
    .no-offload = `fault.offloads.off` is empty
    .unknown-sysctl = `fault.sysctl.key = { $given }` is not a key that a lab sets
    .not-of-sysctl = `fault.sysctl.value` is not a value of `{ $key }`
    .not-a-tunnel = `fault.tunnel.nic = { $given }` cannot be the name of a tunnel
    .routers = `fault.via.routers` has { $count } addresses
    .traffic-to = `fault.traffic.to = "{ $address }"` is no address of another host
    .half-turn = `fault.traffic` needs both `on_ms` and `off_ms`
    .stops-elsewhere = `fault.stops` is for the host of `[samba]`
    .not-an-address = `fault.{ $field } = { $given }` is not an address
    .not-a-prefix = `fault.{ $field } = { $given }` is not an address with a prefix length
hint-lab =
    .not-root = run it as root, such as with `sudo`
    .install = `apt install { $package }`
    .name-taken = `linerate lab down { $name }` ends it, or give the new one another name
    .no-lab = `linerate lab up FILE` starts one
    .use-one = use one of { $names }
    .scenarios = `linerate lab scenarios` says what is wrong in each; { $known }
    .no-scenario = there is none
    .no-host = it has none
    .starting = try again in a second
    .no-share = add `[samba]` with a share to its topology
    .guest = look at the options of the mount, as `man mount.cifs` explains them
    .fields = see `examples/two-links.toml` for the fields there are
    .leave-out = leave some out
    .add-host = add `[[host]]` with a `name`
    .add-link = add a `[[link]]` to it
    .add-first = add it first
    .add-or-use = add it, or use one of { $names }
    .another-name = use another name
    .own-names = give each host and switch its own
    .own = give each its own
    .range = use { $least } to { $most }
    .give = give { $least } to { $most }
    .processors = use { $least } to { $most }, or leave it out for no limit
    .list = use a list of { $count } numbers, each { $least } to { $most }
    .size = write `512MiB` or `4GiB`
    .rate = write `100Mbit`, `1Gbit`, `2.5Gbit` or up to `100Gbit`, or leave `rate` out for no limit
    .both-or-neither = write both, or neither
    .rate-of-nic = use `10Mbit`, `100Mbit`, `1Gbit`, `2.5Gbit`, `5Gbit` or `10Gbit`
    .such-a-rate = use `10Mbit`, `100Mbit`, `1Gbit`, `2.5Gbit`, `5Gbit` or `10Gbit` as rate
    .ring = leave one of its links out
    .two-ends = name two hosts, or a host and a switch
    .one-network = both ends of a cable need one network
    .end = write `{"{"} host = "...", nic = "...", address = "10.0.0.1/24" {"}"}` or `{"{"} switch = "..." {"}"}`
    .switch-alone = write `{"{"} switch = "..." {"}"}` alone
    .nic-name = 1 to { $most } letters, digits, `-` and `_`, a letter first, and none of { $taken }
    .address-and-prefix = write an address and the length of its prefix, such as `10.77.1.1/24`
    .no-loopback = no other host reaches a loopback address; take one such as `10.77.1.1/24`
    .no-single-host = no single host has this address; take one such as `10.77.1.1/24`
    .prefix-length = use a prefix of 1 to 30 bits, with IPv6 of 1 to 126
    .realm = write two or more parts of `A` to `Z`, `0` to `9` and `-`, such as `LAB.EXAMPLE`; the first has at most { $most } characters
    .controller = its name has at most { $most } characters and is not the realm's first part
    .disk = write `medium = "disk"`, or leave `{ $field }` out
    .parameters = docs/files.md lists those that a lab sets
    .parameters-alike = docs/files.md lists those that a lab sets, among them { $names }
    .switch = write `true` or `false`
    .number = write a number from { $least } to { $most }
    .word = write one of { $words }
    .words = write some of { $words }
    .socket-options = write some of { $switches }, or of { $numbers } with `=` and a number
    .interfaces = write addresses, such as `"10.77.1.2/24;speed=1000000000,capability=RSS"`, in quotes
    .log-level = write 0 to 10, or a class of { $classes } with `:` and 0 to 10
    .title = write one line of at most { $most } characters
    .fault = write one of `loss`, `block`, `rate`, `mtu`, `offloads`, `sysctl`, `address`, `route`, `via`, `tunnel`, `down`, `traffic`, `stops` and `busy`, such as `loss = {"{"} nic = "lan1", percent = 1.0 {"}"}`; docs/files.md describes them
    .offloads = name some, such as `off = ["tso", "gro"]`
    .tunnel = use 1 to 15 letters, digits, `-` and `_`, a letter first, and no name that the node has
    .routers = name 1 to { $most }
    .traffic-to = name an address of a `[[link]]`
    .turns = leave both out for traffic all of the time
    .stops = write it `on` that host
    .address = write an address, such as `10.77.9.1`
    .prefix = write both, such as `10.77.1.2/32`
