// The peer for routes that are found: nodes of 802.11a that stand or move, AODV, CBR and TCP on stock ns-3. `make ns3` builds it;
// validation/ns3/routes.py says what it is compared with.
//
// --trace=FILE       positions and legs in ns-2's format, of nodes 0 to nodes-1
// --cbr=0:5,3:9      from:to, each 4 packets of 512 B a second from its own start in the first second of traffic
// --tcp=1:7          one saturated TCP flow; none if it is not given
//
// All frames at 24 Mb/s. A node decodes and senses within `range` and no farther, and all signals have one power: what overlaps is
// lost, as in ours without powers: 16-QAM wants some 10 dB, where slower rates outlive a short overlap. ARP caches
// are filled, with permanent entries: AODV looks up there the neighbour that a report of the MAC speaks of, heeds no entry of
// NeighborCacheHelper, and no report on a neighbour that it heard of before ARP did. Packets do not age in the queue, nothing below IP
// drops but the MAC's queue. Local repair does not exist in ns-3's AODV; hello is off. Prints one JSON object: packets offered and
// delivered, control packets at IP by type (each forwarding counts), MPDUs given up, bytes of TCP delivered.
#include "peer.h"

#include "ns3/aodv-module.h"

using namespace ns3;

namespace
{
std::map<uint8_t, uint64_t> g_control;
uint64_t g_given_up = 0, g_attempts = 0;

// At the IP layer of some node: a packet goes to an interface.
void
Sent(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    copy->RemoveHeader(ip);
    if (ip.GetProtocol() != 17)
    {
        return;
    }
    UdpHeader udp;
    copy->RemoveHeader(udp);
    if (udp.GetDestinationPort() != 654)
    {
        return;
    }
    aodv::TypeHeader type;
    copy->RemoveHeader(type);
    ++g_control[type.Get()];
}

void
GivenUp(WifiMacDropReason, Ptr<const WifiMpdu>)
{
    ++g_given_up;
}

void
Attempt(Ptr<const Packet>, uint16_t, WifiTxVector, MpduInfo, uint16_t)
{
    ++g_attempts;
}
} // namespace

int
main(int argc, char** argv)
{
    std::string trace, cbr, tcp;
    uint32_t nodes = 0, run = 1;
    double seconds = 60, range = 100;
    CommandLine cmd;
    cmd.AddValue("trace", "see the head of this file", trace);
    cmd.AddValue("cbr", "flows, from:to", cbr);
    cmd.AddValue("tcp", "flows, from:to", tcp);
    cmd.AddValue("nodes", "nodes of the trace", nodes);
    cmd.AddValue("run", "random run", run);
    cmd.AddValue("seconds", "time, the first second without traffic", seconds);
    cmd.AddValue("range", "m", range);
    cmd.Parse(argc, argv);
    peer::Begin(run);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", StringValue("50p"));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    // As wlan_tcp.cc has it: what the two TCPs have in common. But an RTO of 200 ms at least would race with ACKs that wait for 200 ms, and
    // hold cwnd at one segment once links have failed.
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(false));
    Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(1000));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(20000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(20000));

    NodeContainer all;
    all.Create(nodes);
    Ns2MobilityHelper(trace).Install();

    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(range));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue("OfdmRate24Mbps"),
                                 "ControlMode", StringValue("OfdmRate24Mbps"),
                                 "NonUnicastMode", StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, all);
    for (uint32_t i = 0; i < nodes; ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&GivenUp));
        device->GetPhy()->TraceConnectWithoutContext("MonitorSnifferTx", MakeCallback(&Attempt));
    }

    AodvHelper aodv;
    aodv.Set("EnableHello", BooleanValue(false));
    aodv.Set("GratuitousReply", BooleanValue(true));
    // With hello off its list of neighbours forgets after this many hello intervals whom it has not heard by a control packet, takes that for a
    // broken link, and heeds no report of the MAC on those it has forgotten. So it forgets nobody (RFC 3561 6.10: the MAC reports).
    aodv.Set("AllowedHelloLoss", UintegerValue(10000));
    aodv.Set("ActiveRouteTimeout", TimeValue(Seconds(100)));
    aodv.Set("MyRouteTimeout", TimeValue(Seconds(200)));
    aodv.Set("DeletePeriod", TimeValue(Seconds(500)));
    InternetStackHelper stack;
    stack.SetRoutingHelper(aodv);
    auto interfaces = peer::Connect(all, devices, stack);
    for (uint32_t i = 0; i < nodes; ++i)
    {
        auto ip = all.Get(i)->GetObject<Ipv4L3Protocol>();
        ip->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
        auto known = ip->GetInterface(ip->GetInterfaceForDevice(devices.Get(i)))->GetArpCache();
        for (uint32_t other = 0; other < nodes; ++other)
        {
            if (other != i)
            {
                auto entry = known->Add(interfaces.GetAddress(other));
                entry->SetMacAddress(devices.Get(other)->GetAddress());
                entry->MarkPermanent();
            }
        }
    }

    auto jitter = CreateObject<UniformRandomVariable>();
    std::vector<Ptr<PacketSink>> sinks, tcp_sinks;
    uint64_t offered = 0;
    uint16_t port = 5000;
    auto begin = [&](ApplicationContainer app) {
        app.Start(Seconds(1 + jitter->GetValue()));
        app.Stop(Seconds(seconds));
    };
    for (const auto& [from, to] : peer::Words(cbr))
    {
        sinks.push_back(peer::Sink(all.Get(std::stoul(to)), "Udp", port));
        InetSocketAddress end(interfaces.GetAddress(std::stoul(to)), port++);
        OnOffHelper source("ns3::UdpSocketFactory", end);
        source.SetConstantRate(DataRate(4 * 512 * 8), 512);
        auto app = source.Install(all.Get(std::stoul(from)));
        begin(app);
        app.Get(0)->TraceConnectWithoutContext(
            "Tx", Callback<void, Ptr<const Packet>>([&offered](Ptr<const Packet>) { ++offered; }));
    }
    for (const auto& [from, to] : peer::Words(tcp))
    {
        tcp_sinks.push_back(peer::Sink(all.Get(std::stoul(to)), "Tcp", port));
        InetSocketAddress end(interfaces.GetAddress(std::stoul(to)), port++);
        begin(BulkSendHelper("ns3::TcpSocketFactory", end).Install(all.Get(std::stoul(from))));
    }

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    uint64_t delivered = 0, bytes = 0;
    for (const auto& sink : sinks)
    {
        delivered += sink->GetTotalRx() / 512;
    }
    for (const auto& sink : tcp_sinks)
    {
        bytes += sink->GetTotalRx();
    }
    peer::Answer(run)
              << ", \"offered\": " << offered << ", \"delivered\": " << delivered << ", \"rreq\": " << g_control[1] << ", \"rrep\": " << g_control[2]
              << ", \"rerr\": " << g_control[3] << ", \"rrep_ack\": " << g_control[4] << ", \"given_up\": " << g_given_up
              << ", \"frames\": " << g_attempts << ", \"tcp_bytes\": " << bytes << "}\n";
    Simulator::Destroy();
}
