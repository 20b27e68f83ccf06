// The peer for validation/cc: one bulk flow of stock ns-3's TCP over one wired bottleneck with random loss. `make ns3` builds
// it; validation/cc/README.md says what it matches and what it cannot.
//
// SACK on both sides, no timestamps (an RTT is then of a segment and not of a tick of 1 ms), window scaling, an ACK for every segment,
// RTO >= --min_rto_ms, no queue discipline above the device. The loss hits data packets where they arrive.
//
// Prints one JSON object. The rates cover `seconds` after `warmup`.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>

#ifndef NS3_VERSION
#define NS3_VERSION "unknown"
#endif

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string cc = "TcpNewReno";
    std::string recovery = "TcpPrrRecovery";
    std::string set;
    double rate = 20e6;
    double rtt = 0.05;
    double loss = 0.0;
    double warmup = 10;
    double seconds = 60;
    double minRto = 200;
    uint32_t packets = 83;
    uint32_t segment = 1460;
    uint32_t run = 1;
    CommandLine cmd;
    cmd.AddValue("cc", "congestion control: TcpVegas, ...", cc);
    cmd.AddValue("recovery", "TcpPrrRecovery or TcpClassicRecovery", recovery);
    cmd.AddValue("set", "attributes, as ns3::TcpWestwood::ProtocolType=WestwoodPlus, separated by ;", set);
    cmd.AddValue("rate", "of IP bytes, in b/s", rate);
    cmd.AddValue("rtt", "in s, without queues and transmission", rtt);
    cmd.AddValue("loss", "probability that a data packet is lost", loss);
    cmd.AddValue("warmup", "in s", warmup);
    cmd.AddValue("seconds", "counted after it", seconds);
    cmd.AddValue("min_rto_ms", "least RTO", minRto);
    cmd.AddValue("packets", "that the queue holds", packets);
    cmd.AddValue("segment", "payload in bytes", segment);
    cmd.AddValue("run", "of the random numbers", run);
    cmd.Parse(argc, argv);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(run);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + cc)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::" + recovery)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(minRto)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    for (size_t from = 0; from < set.size();)
    {
        size_t end = std::min(set.find(';', from), set.size());
        std::string one = set.substr(from, end - from);
        size_t sign = one.find('=');
        Config::SetDefault(one.substr(0, sign), StringValue(one.substr(sign + 1)));
        from = end + 1;
    }

    NodeContainer nodes(2);
    PointToPointHelper wire;
    // The device counts two bytes of PPP; the rate given is that of IP bytes.
    double onWire = rate * (segment + 42) / (segment + 40);
    wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(onWire))));
    wire.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2)));
    wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets)));
    NetDeviceContainer devices = wire.Install(nodes);
    Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(loss);
    devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));

    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    TrafficControlHelper().Uninstall(devices);

    PacketSinkHelper sinks("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    Ptr<PacketSink> sink = sinks.Install(nodes.Get(1)).Get(0)->GetObject<PacketSink>();
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 5000));
    bulk.SetAttribute("SendSize", UintegerValue(segment));
    bulk.Install(nodes.Get(0)).Start(Seconds(0));

    uint64_t before = 0;
    Simulator::Schedule(Seconds(warmup), [&]() { before = sink->GetTotalRx(); });
    Simulator::Stop(Seconds(warmup + seconds));
    Simulator::Run();
    double goodput = 8.0 * (sink->GetTotalRx() - before) / seconds / 1e6;
    std::cout << "{\"ns3_version\": \"" << NS3_VERSION << "\", \"goodput_mbps\": " << goodput << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
