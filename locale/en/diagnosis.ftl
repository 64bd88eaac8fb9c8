# What is concluded of a run: the answer, the causes, the remedies.
# An argument that may be missing is "absent" then.

## The answer

headline =
    .unmeasured = the share could not be measured: { $reason }
    .contradiction = { $cause }
    .loses-proven = { $cause }; { $loss }{ $gain ->
            [absent] {""}
           *[other] ; { $gain }
        }
    .loses-suspected = { $loss }; suspected: { $cause }; to decide: { $decides }
    .loses-unknowable = { $loss }; not knowable from here whether { $cause }: { $needs }
    .loses-unexplained = { $loss }; no cause is known
    .client-itself = { $loss }; none of the mount's options is known to cost so much, so it is the client itself or something between the two that was not measured
    .network-or-server = { $loss }; network or server? not knowable from here: raw TCP was not measured; to decide: { $decides }
    .one-connection = { $loss }; several connections move { $floor }, so one is limited: by its process at the server, or by the path for each connection; to decide: { $decides }
    .server-loses = { $loss }; the network carries all that the link can, so the server's end or the session loses; no cause is known
    .crowded = something is lost, and the processors of { $host } were full all the time, so it cannot be said where: repeat it when nothing else runs there
    .cannot-tell = cannot tell yet: { $loss }; blocks that would tell: { $blocks } more (`--thorough`)
    .too-near = cannot tell: { $loss }, which is too near to a loss of 5 % for what the rates differ from trial to trial
    .varies = cannot tell: { $loss }, and the rates differ from trial to trial: something comes and goes; repeat this check at another time
    .found = { $cause }{ $gain ->
            [absent] {""}
           *[other] ; { $gain }
        }
    .suspected = suspected: { $cause }; to decide: { $decides }
    .maybe = suspected: { $cause }
    .full = nothing loses, and the link is full: the share{ $read ->
            [absent] {""}
           *[other] {" "}reads { $read }
        }{ $write ->
            [absent] {""}
           *[other] {" "}and writes { $write }
        }, { $share } of what { $line ->
            [absent] {""}
           *[other] { $line }{" "}
        }carries{ $unused ->
            [absent] {""}
           *[other] ; { $unused }
        }
    .well = nothing loses: the share{ $read ->
            [absent] {""}
           *[other] {" "}reads { $read }
        }{ $write ->
            [absent] {""}
           *[other] {" "}and writes { $write }
        }{ $share ->
            [absent] {""}
           *[other] , { $share } of what the link carries
        }{ $unused ->
            [absent] {""}
           *[other] ; { $unused }
        }
    .no-ceiling = the share{ $read ->
            [absent] {""}
           *[other] {" "}reads { $read }
        }{ $write ->
            [absent] {""}
           *[other] {" "}and writes { $write }
        }; what the link could carry is not known{ $unused ->
            [absent] {""}
           *[other] ; { $unused }
        }
    .incomplete = nothing that was measured loses: the share{ $read ->
            [absent] {""}
           *[other] {" "}reads { $read }
        }{ $write ->
            [absent] {""}
           *[other] {" "}and writes { $write }
        }{ $share ->
            [absent] {""}
           *[other] , { $share } of what the link carries
        }{ $unused ->
            [absent] {""}
           *[other] ; { $unused }
        }
    .one-link-idle = client and server use only { $used } of their { $usable } links; all of them together move { $gain } as much{ $direction ->
            [absent] {""}
           *[other] {" "}({ $direction })
        }
loss =
    .tcp = raw TCP ({ $direction }) reaches { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } of the link: { $rate } of { $whole }
    .share = the share ({ $direction }) reaches { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } of raw TCP: { $rate } of { $whole }
    .share-of-link = the share ({ $direction }) reaches { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } of the link: { $rate } of { $whole }
    .channels = the share over several channels ({ $direction }) reaches { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } of what all their links carry: { $rate } of { $whole }
    .disk = from its disk the server gives { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } of what it gives from memory: { $rate } of { $whole }
    .system-client = the system's own client ({ $direction }) reaches { $share }{ $low ->
            [absent] {""}
           *[other] {" "}[{ $low }, { $high }]
        } of what linerate's reaches on the same share: { $rate } of { $whole }
gain = without it: { $gain }{ $low ->
        [absent] {""}
       *[other] {" "}[{ $low }, { $high }]
    }
links-unused = links that are not used: { $links }

## What decides

decide =
    .probe = repeat this check with `--thorough`
    .all-links = run one `iperf3` for each link at the same time, or bypass the switches that they share
    .raw-tcp = run `iperf3 -s` on the server, or name it by `--server HOST`, then repeat this check
    .raw-tcp-here = let `iperf3 -s` run on the server, then repeat this check
    .server = name the server by `--server HOST`, so that its counters can be read
    .tune = `linerate tune` tries the remedy and keeps it if it helps
    .cheaper-cipher = repeat this check with `--thorough`; where the server refuses AES-GCM, let it offer that first
    .elsewhere = check the share by the other address
    .mount-so = mount it with these options, and check that folder
    .mount-again = repeat this check as root, or mount it a second time with these options and `nosharesock`, and check that folder
    .quiet-time = repeat this check while the other machines on that network are off
    .cable = connect a cable and repeat this check
    .iw = `iw dev NIC station dump` shows retries
    .without-tunnel = repeat this check without the tunnel
    .two-sessions = look at the bytes of both NICs while two channels are used
    .pause-off = turn flow control off at one end and repeat this check
    .socket-options = take that option out of `smb.conf`, start Samba anew and repeat this check
    .ss-at-server = `ss -ti` on the server shows its send buffer while the share is read
    .without-sync = repeat this check once with `sync always = no`, while no file matters that a power cut could take
    .sync-writes = `testparm -s` on the server shows `sync always`, the dataset's `sync` whether its file system waits
    .power-plan = `powercfg /getactivescheme` on the server
    .flow-hash = look at the counters of the ports of bonds and of routers on the path while several connections move data
    .antivirus = look at the scanner's processor time while the share is used
needs =
    .server = name the server by `--server HOST`
    .served = the processor time of the server's process for each byte, by `--server HOST`

## Causes: path

path-mtu-black-hole = packets of more than { $most } bytes between `{ $nic }` and `{ $remote }` vanish without notice, though both ends send up to { $wanted }; { $who }
    .one-way = packets of more than { $most } bytes between `{ $nic }` and `{ $remote }` vanish without notice, though both ends send up to { $wanted } (seen towards the server; echo requests of that size get no answer); { $who }
hole =
    .this-end = this end drops them: { $why }
    .far-end = the far end drops them: { $why }
    .between = by elimination something between them drops them, such as a switch with a smaller MTU{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $also ->
            [absent] {""}
           *[other] { $also }
        }
    .probably-between = probably something between them drops them, such as a switch with a smaller MTU{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $also ->
            [absent] {""}
           *[other] { $also }
        }
    .between-or-far = something between them or the far NIC drops them{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $direction ->
            [absent] {""}
           *[other] { $direction }
        }: { $how }
    .near-or-between = this NIC or something between them drops them{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $direction ->
            [absent] {""}
           *[other] { $direction }
        }: { $how }
    .anywhere = this NIC, something between them or the far NIC drops them{ $because ->
            [absent] {""}
           *[other] { $because }
        }{ $direction ->
            [absent] {""}
           *[other] { $direction }
        }: { $how }
    .because = {" "}({ $why })
    .from-one-end = from one end these cannot be told apart; `--server` tells more
    .not-told-apart = nothing tells these apart
    .to-server-only = , towards the server only
    .to-client-only = , towards the client only
    .nic-passes = `{ $nic }` passes { $bytes } bytes to and from `{ $remote }`
    .far-passes = the NIC of `{ $remote }` passes { $bytes } bytes to and from `{ $nic }`
    .short-port = the port `{ $port }` of `{ $nic }` at { $host } has MTU { $mtu }, and `{ $nic }` itself { $own }
    .refused = `{ $nic }` at { $host } counted { $refused } faulty packets while { $sent } of { $size } bytes were sent
link-trained-low = `{ $nic }` of { $host } runs at { $speed }, though both ends of its cable can { $both }
wifi-used = { $host } sends over Wi-Fi by `{ $nic }`: what the air carries may be the limit, and not the lines behind it
    .cable = { $host } sends over Wi-Fi by `{ $nic }`, while its cable `{ $cable }` runs at { $rate } and is not used
wifi-retries = the rates of { $host } over Wi-Fi (`{ $nic }`) differ from trial to trial: frames may be sent again and again
tunnel-used = { $host } sends through the tunnel { $tunnel }, which rides on another line and handles each packet once more
    .needless = { $host } sends through the tunnel { $tunnel }, while its `{ $nic }` is in one subnet with `{ $remote }`
slow-link =
    .end = `{ $nic }` of { $host } runs at { $slow }, and the other end of the path at { $good }
    .end-by-word = the server says that its NIC at `{ $remote }` runs at { $slow }, and all that is moved agrees; `{ $nic }` runs at { $good }
    .hop = everything moves at just the rate of a line of { $rate }, both directions: a hop between `{ $nic }` and `{ $remote }` runs at that
    .hop-of-queue = what is read moves at just the rate of a line of { $rate }, and waits in a queue of the network: a hop between `{ $nic }` and `{ $remote }` runs at that
    .hop-of-channel = the link of `{ $nic }` to `{ $remote }`, which several channels use, moves just what a line of { $rate } carries: a hop in between runs at that
    .shared-hop = all links together move just what one line of { $rate } carries, both directions: they may meet in one line, at a switch or at the server
    .among-others = the link { $pair } runs at { $slow }, and another one between the two at { $good }
    .among-used = the link { $pair } runs at { $slow }, and another one between the two carried { $good }
rate-limited = something on the path limits the rate to { $rate } ({ $direction }): it is steady, and no packet is lost
    .shaper = a shaper on `{ $nic }` of { $host } limits it to { $rate }, on a line of { $line }
    .shaper-alone = a shaper on `{ $nic }` of { $host } limits it to { $rate }, which is no line's rate
    .queue = reading, packets wait { $wait } in a queue of the network, which a slow server would leave empty: a hop, or what others send over it, may limit the rate to { $rate }
    .shaper-one-way = a shaper on `{ $nic }` of { $host } limits what it sends to { $rate }, and far more arrives
    .clock = writing, TCP waits for the network { $waited } of the time and loses nothing: a hop, or what others send over it, may limit the rate to { $rate }
faster-path-unused = the share is reached from { $current }, which carries { $used }; { $pair } carries { $rate } and is not used
    .back = the share is called from `{ $fast }`, which carries { $fast_rate }, and what the server sends comes in by `{ $slow }`, which carries { $slow_rate }: the routes back are others
two-nics-one-subnet = `{ $one }` and `{ $other }` of { $host } are in one subnet, so that one of them does the work of both{ $sender ->
        [absent] {""}
       *[other] { $sender }
    }
sends-by = ; the routes send all by `{ $nic }`
mtu-differs = the two ends of a link differ in MTU: `{ $near }` has { $near_mtu }, `{ $far }` has { $far_mtu }
offloads-off = `{ $nic }` of { $host } leaves segments to the processor ({ $knobs } off), on a fast link with frames of { $mtu } bytes
rss-off = one processor of { $host } handles all packets of `{ $nic }`, and is full
other-traffic = { $share } of what passes `{ $nic }` is traffic of other programs
    .elsewhere = packets wait { $least } to { $most } on the path while this check sends nothing, and several connections gain as a part of a link that others fill
    .now-and-then = one connection ({ $direction }) has all of the link for moments and { $part } of it for long: others come and go, on the path or at the server
    .perhaps = other machines may fill the server's link, which its NIC would show
segments-lost =
    .tcp = { $share } of raw TCP's segments ({ $direction }) had to be sent again: packets are lost on the path
    .share = { $share } of the share's segments ({ $direction }) had to be sent again: packets are lost on the path
    .single = { $share } of the share's segments ({ $direction }) had to be sent again, and some where one small request follows another, which no full queue drops: packets are lost on the path
    .overtaken = { $share } of the segments that the server sent came before an earlier one, which was lost or overtaken
    .stops = reading stops for a fifth of a second and more, and then has all of the link again, while writing never stops: segments at the end of a burst may be lost
    .channel = the channel `{ $nic }` to `{ $remote }` loses { $share } of its segments ({ $direction })
pause-frames = the NICs of { $host } count { $pauses } pause frames a second: a receiver or a switch stops the sender
flow-hash = the bond `{ $nic }` of { $host } sends all connections by one of its ports
    .by-chance = two connections at once ({ $direction }) move now as much as one and now far more: each takes one of several links by chance
    .connections = two connections of one session ({ $direction }) move { $gain } of what one does, which is steady and loses nothing: each connection has a limit of its own on the path
    .streams = several streams of raw TCP ({ $direction }) move { $gain } of what one does, which is steady and loses nothing: each connection has a limit of its own on the path
receive-buffer-small = the receive buffer of { $host } has { $most } at most, and { $needed } would be under way if the link were full ({ $direction })
    .scaling = window scaling is off at { $host }, so that no more than 64 KiB can be under way, on a path of { $round_trip }
    .tuning = window auto-tuning is off at { $host } ({ $direction }): its receive buffer stays at { $first }, and { $needed } would be under way if the link were full
    .options = `socket options` in the server's `smb.conf` holds the receive buffer at { $size } ({ $direction }), and TCP does not tune itself then
    .tiny = the server never has room for more than { $window }: its receive buffer is held small, by `socket options` of its `smb.conf` or by its `tcp_rmem`
    .full = the server has no room for what is under way: { $path } would fill the path
send-buffer-small = the send buffer of { $host } has { $most } at most, and { $needed } would be under way if the link were full ({ $direction })
    .options = `socket options` in the server's `smb.conf` holds the send buffer at { $size } ({ $direction }), and TCP does not tune itself then
    .flight = the server keeps no more than { $flight } under way when it sends, and answers at once: its send buffer may be too small for this path

## Causes: processors

processor-limit = a limit stopped the processes of { $host } { $stopped } of the time
client-processor = the client's own processor is the limit: { $busy } of one core for each channel
server-processor = the server may be slow: raw TCP is not, both directions of the share are
    .core = a processor of { $host } is full while the share is used
    .bursts = both directions come in bursts, on a short path that loses nothing: the server may have too little of a processor
    .connection = one process of the server may be full: two sessions gain, and the path is short and loses nothing
    .session = one process of the server may be full: two sessions gain, two connections of one session do not, and the path is short and loses nothing
    .process = one process of the server serves all requests of a session and is full: two sessions gain what two streams of raw TCP do not
cpu-stolen = a hypervisor gives { $stolen } of the time of a processor of { $host } to others
power-plan = the processors of { $host } run at { $megahertz } MHz under load
    .awake = the processors of { $host } fall asleep between packets
antivirus = other programs than the file server take { $busy } of a processor of { $host } while the share is used, as a virus scanner does

## Causes: SMB

old-dialect = the server speaks SMB { $dialect } only: one channel, no encryption
    .small = the server speaks SMB { $dialect } only: requests of 64 KiB, one channel, no encryption
few-credits = the server grants { $credits } credits, so that no more than { $bytes } can be under way
small-requests = the server takes { $kinds } requests of { $bytes } at most, and others take 8 MiB
small-requests-here = the server takes { $kinds } requests of { $bytes } at most: with several under way at once that costs nothing here, and programs that wait for each one may lose by it
encryption = everything is encrypted by { $cipher }
signing = all data is signed by { $algorithm }
asynchronous-io = the server works on one request after the other (`{ $knobs }` is set so): every wait for its disk is a wait of all
    .in-turn = writes wait where reads do not, and two sessions write { $gain } as fast as one: the server may do one write of a session after the other

## Causes: storage

sync-writes = to have every write on the disk at once costs nothing here: the server may do so always
    .small-files = a small file takes { $write } to write and { $read } to read: each write waits for the server's disk
    .setting = the server has every write on its disk before it answers (`sync always`)
server-disk =
    .one-block = the server's disk does not keep up with writes: one block written over and over is { $gain } as fast
    .writes = the server takes { $write } and gives { $read } from memory: its disk may be slow
    .waits = programs of the server wait for its disk all the time that the share is written to, at { $write }, and not while it is read from memory
    .reads = the server gives a file that was not asked for lately at { $disk }, { $share } of the { $memory } that it gives from memory
    .cold = the server gives a file that is not in its memory at { $disk }, { $share } of the { $memory } that it gives from memory: its disk is slow
local-disk = a copy to { $place } runs at { $copy }, { $share } of what the share gives: that disk of the client is slow

## Causes: channels

port-blocked = `{ $remote }` answers by `{ $nic }`, and its file server's port does not: a firewall, or a server that does not listen there
multichannel-off = there are { $links } links, and the server does not offer multichannel
    .perhaps = the server does not offer multichannel; if `{ $nic }` leads to it as well, it is not used for that
advertised-wrong =
    .perhaps = the server lists `{ $address }`, to which no NIC of this client leads, and nothing to which `{ $nic }` leads: if that is a link to it, the list is wrong
    .perhaps-unlisted = the server lists nothing to which `{ $nic }` leads: if that is a link to it, the list lacks it
    .exceeded = the server says of `{ $address }` that it runs at { $said }, and more was moved over it; clients choose their channels by that
    .speed = the server says of `{ $address }` that it runs at { $said }, and it runs at { $real }; Windows and macOS then leave the other link alone
    .doubted = the server says of `{ $address }` that it runs at { $said }, and `{ $nic }` at this end runs at { $own }: if its own NIC is as fast, the list is wrong, and Windows and macOS leave that link alone
    .rss = the server says of `{ $one }` that it is capable of RSS and of `{ $other }` ({ $speed }) that it is not; Windows then leaves the latter alone
    .unlisted = the server does not list `{ $remote }` at its `{ $nic }`{ $instead ->
            [absent] {""}
           *[other] { $instead }
        }; Windows and macOS then leave that link alone
lists-foreign = {" "}and lists `{ $address }`, which it does not have
one-link-idle =
    .dead = the link of `{ $nic }` to `{ $remote }` is dead: nothing answers there

## Causes: the system's own client

mount-old-dialect = the mount `{ $mount }` speaks SMB { $dialect }, though the server speaks { $newer } with linerate
mount-sync = the mount `{ $mount }` has the option `sync`: each write waits until the server has the one before
mount-cache-off = the mount `{ $mount }` has the option `cache=none`: a program waits for each of its reads and writes, and nothing is read ahead
mount-small-requests = the mount `{ $mount }` moves { $bytes } bytes with each request, and the server takes more
mount-one-connection = the mount `{ $mount }` has one connection, and { $channels } together move more

## Causes: where and not why

measured-above-ceiling = the share ({ $direction }) moves { $rate }, more than the { $ceiling } that fit through the NICs in use: the link is not what its facts say, or the bytes took another path
    .tcp = raw TCP ({ $direction }) moves { $rate }, more than the { $ceiling } that fit through the NICs in use: the link is not what its facts say, or the bytes took another path
tcp-slower-than-ceiling = raw TCP ({ $direction }) reaches { $share } of what fits through the NICs in use: { $rate } of { $whole }
share-slower-than-tcp = the share ({ $direction }) reaches { $share } of raw TCP on the same path: { $rate } of { $whole }

## Remarks

link-saturated = the link is full: the share moves { $share } of what fits through it
links-of = client and server use { $used } of their { $usable } links
network-at-least = the network ({ $direction }) carries at least { $rate }, which the best of several sessions, requests or files moved; raw TCP was not measured
facts-missing = facts that could not be had: { $facts }
silent-address = nothing answers at { $addresses }, which the server's name stands for as well: every connection tries that first; take it out of DNS or `hosts`
jumbo-neighbours = `{ $nic }` sends packets of up to { $tried } bytes, and { $neighbours } on its segment answer at { $answered } only: what is larger and not TCP is lost without notice
over-wifi = { $host } sends over Wi-Fi by `{ $nic }`; a cable is steadier, and mostly faster
    .cable = { $host } sends over Wi-Fi by `{ $nic }`; its cable `{ $cable }` is not used, and no faster
through-tunnel = { $host } sends through the tunnel { $tunnel }, which rides on another line and leaves { $mtu } bytes to a packet
through-bridge = { $host } sends through the bridge `{ $nic }` (ports: { $ports })
wifi-beside-cable = { $host } sends by `{ $nic }`, and its Wi-Fi `{ $wifi }` is not used
disk-cold = disk: the server had been seen to have none of the file in memory
disk-unknown = disk: a file of the share, read once; cache unknown, the server may have had it in memory
copy-to = copy: from the server's memory to { $place }, until all of it was on that disk

## Remedies

fix =
    .none = not known
    .mtu-of-switch = { $what }; until then set MTU { $most } at both ends
    .switch-mtu = raise the MTU of the switch between the two to at least { $wanted }
    .switch-or-nic = { $switch }, and look at the NICs if that is not it
    .port-mtu = set the MTU of `{ $port }` at { $host } to { $wanted }, as that of `{ $nic }`
    .look-at-nic = look at `{ $nic }` at { $host }: its driver, and whether it takes large frames as it is set to
    .retrain = change the cable of `{ $nic }`, or try another port of the switch; a pair of wires may be broken
    .use-cable = connect { $host } by a cable; without one, move it nearer to the access point and use the 5 or 6 GHz band
    .cable-for-wifi = let { $host } use the cable: turn Wi-Fi off, or give the routes of `{ $cable }` a lower metric than those of `{ $nic }`
    .wifi-retries = move nearer to the access point, or use a free channel of the 5 or 6 GHz band
    .around-tunnel = where both are in one network, reach the server without the tunnel; elsewhere look at the processors of both ends of the tunnel
    .around-needless-tunnel = let `{ $remote }` be reached by `{ $nic }` and not through { $tunnel }: leave the local network out of the tunnel, or use that address
    .cable = change the cable of `{ $nic }` at { $host }; a pair of wires in it is probably broken
    .cable-of-pair = change the cable of { $pair }; a pair of wires in it is probably broken
    .shared-hop = give each link its own path: check the uplink between the switches, and how many NICs the server uses
    .slow-hop = look at the ports of the switches on the path and at the server's NIC: one has come up slow, or is a slow one
    .shaper = raise or remove the shaper of `{ $nic }`
    .rate-limit = look for a slow port, a shaper or a contract's rate on the path
    .faster-address = reach the server by `{ $remote }`: use that address, or let its name stand for it in `hosts` or DNS
    .path-back = change the server's route to the address of `{ $fast }`, so that it answers by the path that it is called by
    .lower-metric = give the routes of `{ $fast }` a lower metric than those of `{ $slow }` (`route.interface_metric`), or each link a subnet of its own at both ends
    .own-subnets = give each link a subnet of its own, at both ends: for `{ $other }` another network than for `{ $one }`
    .same-mtu = set one MTU at both ends: { $most } if every switch and neighbour takes it, otherwise { $least }
    .smaller-mtu = set one MTU at both ends, { $least }: { $neighbours } on the same segment take no more
    .offloads-on = turn the offloads of `{ $nic }` on { $host } on again
    .rss = let `{ $nic }` use several receive queues, one for each processor
    .other-traffic-elsewhere = find the machine that sends so much over the same link (the counters of the switch's ports tell), and move its work to another time or another link
    .other-traffic = end what else uses `{ $nic }`, give it another link, or repeat this check when it is done
    .lost-packets = look at the error counters of both NICs and of the switch's ports, change the cable, try another port
    .pause-frames = look at who sends the pause frames, and at the flow control of both NICs and the switch
    .flow-hash = let `{ $nic }` choose its port by layer 3+4, or give each link a subnet of its own and use multichannel
    .flow-hash-of-path = let the bond or the routers on the path choose by layer 3+4, and use several connections
    .window-scaling = turn window scaling on again at { $host }
    .window-autotuning = turn window auto-tuning on again at { $host }
    .receive-buffer = let TCP on { $host } take { $bytes } for its receive buffer
    .send-buffer = let TCP on { $host } take { $bytes } for its send buffer
    .socket-options = take `{ $option }` out of `socket options` in the server's `smb.conf`, and start the server again
    .server-receive-buffer = let TCP on the server tune its receive buffer: look at its `tcp_rmem` and at `socket options` of its `smb.conf`
    .server-send-buffer = let TCP on the server tune its send buffer: look at its `tcp_wmem` and at `socket options` of its `smb.conf`
    .processor-limit = give { $host } more processor time, in the limits of its container or virtual machine
    .client-processor = leave the client more of its processors: end what else runs there, or use more channels, which are served by a processor each
    .server-processor = look at the server while a large file is copied: what else runs there, and whether one processor is full
    .cpu-stolen = give { $host } processors of its own, or move it to a machine with less to do
    .power-plan = set the power plan of { $host } to high performance
    .antivirus = let the scanner of { $host } leave the share's folder out
    .newer-dialect = let the server speak SMB 3.1.1 (Samba: `server max protocol = SMB3`)
    .more-credits = let the server grant its usual 8192 credits (Samba: `smb2 max credits`)
    .larger-requests = let the server take requests of 8 MiB (Samba: `smb2 max read`, `smb2 max write`)
    .cheaper-cipher = let server and client agree on AES-GCM, which protects as well and costs a fraction of AES-CCM (Samba: `server smb3 encryption algorithms`)
    .no-cheaper-cipher = encryption has its price, and there is no cheaper cipher; without it everybody on the path can read along
    .cheaper-signing = let server and client agree on AES-128-GMAC, which protects as well and costs a fraction of it (Samba: `server smb3 signing algorithms`)
    .no-cheaper-signing = signing has its price, and AES-128-GMAC is the cheapest algorithm; without it everybody on the path can change data
    .asynchronous = let the server read and write asynchronously, as is its default
    .sync-writes = let the server answer before the disk has all (Samba: `sync always = no`); what was not on the disk is lost when the power fails
    .faster-disk = look at the server's disks: what else uses them, whether one of an array is missing, whether writes are forced through
    .faster-disk-for-reads = look at the server's disks: what else uses them, how far it reads ahead; more memory helps where the same files are read again
    .faster-local-disk = copy to a faster disk of the client, or look at what else uses this one
    .open-port = let the file server's port through to `{ $remote }`: look at the firewalls of both ends, and at `interfaces` of a Samba server
    .multichannel-on = turn multichannel on at the server (Samba: `server multi channel support = yes`)
    .true-advertisement = let the server list what its NICs are (Samba: `interfaces = "ADDRESS;speed=...,capability=RSS"` for each)
    .dead-link = look at the cable and ports of `{ $nic }`, and at the address of its other end
    .mount-so = mount the share with `{ $options }`, where FILE holds user and password, and FOLDER is yours to choose
    .mount-again = unmount `{ $folder }` and mount it with `{ $options }`, where FILE holds user and password
    .channels = use { $links } links at once by SMB multichannel ({ $nics })
    .mtu = set MTU { $mtu } on { $nics }{ $neighbours ->
            [absent] {""}
           *[other] { $neighbours }
        }
    .jumbo-segment = do not raise the MTU of the whole segment, on which { $neighbours } answer at { $answered } bytes only: give client and server { $segment }
neighbours-unproven = , and check again then: { $names } on the same segment can be asked for large packets only from an end that sends them
segment =
    .new = a cable, port or VLAN between the two with MTU { $mtu } and addresses of its own
    .idle-link = the idle link { $pair } with MTU { $mtu }
    .subnet = a subnet of their own on the same cable: `{ $client }/24` at the client and `{ $server }/24` at the server with MTU { $mtu }, all other routes with { $standard }

## Why a remedy is not tried, and what it disturbs

hand =
    .out-of-reach = it is set where linerate may not run commands, or has no setting for it: name that host with `--server`, or do it there by hand
    .unknown = it says where something is lost, and nothing that is known explains it
    .no-share = no share can be measured over it, so there is nothing to compare with
    .cable = it takes another cable or port
    .cable-or-switch = it takes another cable, port or switch
    .wifi = what else uses the Wi-Fi, and where a cable could lie, only you know
    .mount-so = linerate leaves nothing mounted
    .mount = linerate never unmounts an existing mount: programs may have its files open
    .tunnel = a tunnel protects what is sent, and what must go through it only you know
    .rate-limit = who limits the rate, and why, only you know
    .address = the server has to be called by another address, or the routes changed: check it that way and compare
    .addresses = which addresses are free only you know
    .rss = how many queues a NIC has is up to its driver
    .other-traffic = what else uses the link, and whether it may wait, only you know
    .flow-control = switch and NICs have to agree on it
    .flow-hash = the switch has its own half of the bond
    .processor = how much each may have is decided outside of it
    .hypervisor = the hypervisor decides it
    .power-plan = it costs power, and linerate leaves it alone
    .protection = it protects, and linerate leaves it alone
    .dialect = which dialects a server speaks is part of its protection, and linerate leaves it alone
    .durability = it protects files when the power fails, and linerate leaves it alone
    .disk = it takes a look at the disks themselves
    .local-disk = which disk a copy goes to only you know
    .firewall = a firewall protects, and linerate leaves it alone
    .interfaces = the server reads its list of interfaces only when it starts
blocked =
    .no-session = no session with the share was seen, so its abilities are not known
    .dialect = the server speaks SMB { $dialect }, and multichannel needs 3.0 or newer
    .no-interfaces = the server lists no interfaces: multichannel is off there (Samba: `server multi channel support = yes`)
    .guest = the server took us as guest, and guests have one channel
    .asked-already = { $asked } channels were asked for already, and { $used } made use of: { $why }
    .mtu-max = `{ $nic }` takes an MTU of { $most } at most
    .both-ends = both ends of a link need the same MTU, and the server's settings cannot be reached; name it with `--server HOST`, or set MTU { $mtu } there by hand first
    .unknown-nic = the server's NIC with the address `{ $remote }` is not among those of the named server
no-reason = no reason was given
disturbs =
    .nothing = nothing
    .new-connections = nothing: new connections have it, and those that are there keep what they had
    .new-sessions = nothing: the server reads it at once, and sessions that begin afterwards have it
    .own-session = nothing: the channels belong to the session that asks for them
    .all-sessions = every session of the server, which must be started again
    .link = the link, for a moment: many drivers reset the NIC
    .links = these links, for a moment at each change: many drivers reset the NIC
    .until-restart = these links, for a moment; what the commands set lasts until the next start
    .mount = whatever has files of that mount open
    .hands = whatever uses the link while somebody works on it
    .wifi = whatever uses the Wi-Fi at that moment
    .tunnel = whatever uses the tunnel while its routes change
    .routes = nothing where only the name stands for another address; routes that change, for a moment
    .address = everything that uses the address that changes
    .others = what else uses the link
    .shared-host = whatever shares the processors with it
    .disks = whatever else uses the disks
    .lets-through = nothing: it lets more through
