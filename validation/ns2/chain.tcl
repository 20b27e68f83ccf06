# A chain of nodes 200 m apart on stock ns-2: AODV, one FTP over TCP from the first to the last for `seconds`.
#   ns chain.tcl hops rate_mbps rts(0|1) window agent seconds seed trace plain(0|1)
# With `plain` the interface queue has no place of honour for what routing agents send.
# The trace has what the routing layer and the queues do; chain.py counts in it. Payload is 1000 B a segment.
foreach {name value} [list hops [lindex $argv 0] rate [lindex $argv 1] rts [lindex $argv 2] window [lindex $argv 3] \
    agent [lindex $argv 4] seconds [lindex $argv 5] seed [lindex $argv 6] file [lindex $argv 7] plain [lindex $argv 8]] {
    set $name $value
}
ns-random $seed
Mac/802_11 set dataRate_ ${rate}Mb
Mac/802_11 set RTSThreshold_ [expr {$rts ? 0 : 3000}]
Agent/TCP set window_ $window
Agent/TCP set packetSize_ 1000
Queue/DropTail/PriQueue set Prefer_Routing_Protocols [expr {!$plain}]
set sim [new Simulator]
set trace [open $file w]
$sim trace-all $trace
set ground [new Topography]
$ground load_flatgrid [expr {200 * $hops + 100}] 100
set nodes [expr {$hops + 1}]
create-god $nodes
$sim node-config -adhocRouting AODV -llType LL -macType Mac/802_11 -ifqType Queue/DropTail/PriQueue -ifqLen 50 \
    -antType Antenna/OmniAntenna -propType Propagation/TwoRayGround -phyType Phy/WirelessPhy -channel [new Channel/WirelessChannel] \
    -topoInstance $ground -agentTrace OFF -routerTrace ON -macTrace OFF -movementTrace OFF
for {set i 0} {$i < $nodes} {incr i} {
    set node($i) [$sim node]
    $node($i) random-motion 0
    $node($i) set X_ [expr {200 * $i + 50}]
    $node($i) set Y_ 50
    $node($i) set Z_ 0
}
set source [new Agent/TCP/$agent]
set sink [new Agent/TCPSink]
$sim attach-agent $node(0) $source
$sim attach-agent $node($hops) $sink
$sim connect $source $sink
set ftp [new Application/FTP]
$ftp attach-agent $source
$sim at 1.0 "$ftp start"
$sim at [expr {1.0 + $seconds}] "finish"
proc finish {} {
    global sim trace source seconds
    $sim flush-trace
    close $trace
    puts "acked [$source set ack_] timeouts [$source set nrexmit_] retransmitted [$source set nrexmitpack_]"
    exit 0
}
$sim run
