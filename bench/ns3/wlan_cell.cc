// The peer for cells of stations that differ: saturated UDP uploads to one more node on stock ns-3. `make ns3` builds it;
// validation/ns3/cells.py says what it is compared with.
//
// --stations=b11,g54,g54   one word a station: standard (a, b, g), rate in Mb/s, and perhaps an access category (vo, vi, be, bk)
//                          after a colon, as a54:vo. With b or g the cell has an access point of 802.11g, with association and
//                          beacons; with a the stations are ad hoc. A category turns QoS on for all.
//
// DCF or EDCA as ns-3 has them; no queue disciplines; packets do not age; ARP caches filled. Prints one JSON object: rates and
// counters cover `seconds` after `warmup`, `modes` are what frames of each type went out in.
#include "peer.h"

using namespace ns3;

namespace
{
struct Counts
{
    uint64_t exchanges = 0, failures = 0;
};

Counts g_counts;
std::map<std::string, uint64_t> g_modes;

void
Sent(Ptr<const Packet> packet, uint16_t, WifiTxVector vector, MpduInfo, uint16_t)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    std::ostringstream word;
    word << header.GetTypeString() << " " << vector.GetMode().GetUniqueName();
    ++g_modes[word.str()];
    g_counts.exchanges += header.IsRts() || (header.IsData() && !header.GetAddr1().IsGroup());
}

void
Failed(Mac48Address)
{
    ++g_counts.failures;
}

struct Station
{
    char standard;
    std::string rate, category;
};

std::vector<Station>
Read(const std::string& text)
{
    std::vector<Station> all;
    for (const auto& [kind, category] : peer::Words(text))
    {
        all.push_back({kind[0], kind.substr(1), category});
    }
    return all;
}

std::string
Mode(char standard, const std::string& rate)
{
    const bool dsss = rate == "1" || rate == "2" || rate == "5.5" || rate == "11";
    const std::string digits = rate == "5.5" ? "5_5" : rate;
    return (dsss ? "DsssRate" : standard == 'a' ? "OfdmRate" : "ErpOfdmRate") + digits + "Mbps";
}

WifiStandard
Standard(char standard)
{
    return standard == 'a' ? WIFI_STANDARD_80211a : standard == 'b' ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211g;
}
} // namespace

int
main(int argc, char** argv)
{
    std::string text = "b11,g54", protection = "Cts-To-Self", control;
    uint32_t run = 1, datagram = 1500;
    double seconds = 4, warmup = 1;
    CommandLine cmd;
    cmd.AddValue("stations", "see the head of this file", text);
    cmd.AddValue("protection", "Cts-To-Self or Rts-Cts, of ERP stations", protection);
    cmd.AddValue("control", "ControlMode; by default ns-3's own", control);
    cmd.AddValue("datagram", "B", datagram);
    cmd.AddValue("run", "random run", run);
    cmd.AddValue("seconds", "measured time", seconds);
    cmd.AddValue("warmup", "time between the flows' start and the measurement", warmup);
    cmd.Parse(argc, argv);
    const auto spec = Read(text);
    const uint32_t n = spec.size();
    const bool adhoc = spec[0].standard == 'a';
    bool qos = false;
    for (const auto& station : spec)
    {
        qos |= !station.category.empty();
    }
    peer::Begin(run);
    Config::SetDefault("ns3::WifiRemoteStationManager::ErpProtectionMode", StringValue(protection));
    Config::SetDefault("ns3::ApWifiMac::BeaconInterval", TimeValue(MicroSeconds(1024000)));

    NodeContainer stations, ap;
    stations.Create(n);
    ap.Create(1);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel",
                               "Exponent", DoubleValue(3.5),
                               "ReferenceDistance", DoubleValue(1),
                               "ReferenceLoss", DoubleValue(46.67));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(18));
    phy.Set("TxPowerEnd", DoubleValue(18));
    WifiMacHelper mac;
    NetDeviceContainer devices;
    auto install = [&](Ptr<Node> node, const Station& station, const char* role) {
        WifiHelper wifi;
        wifi.SetStandard(Standard(station.standard));
        const std::string mode = Mode(station.standard, station.rate);
        const std::string own = station.standard == 'a' ? "OfdmRate6Mbps" : "DsssRate1Mbps"; // ns-3's lowest basic mode
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode", StringValue(mode),
                                     "ControlMode", StringValue(control.empty() ? own : control));
        if (adhoc)
        {
            mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(qos));
        }
        else
        {
            mac.SetType(role, "QosSupported", BooleanValue(qos), "Ssid", SsidValue(Ssid("peer")));
        }
        devices.Add(wifi.Install(phy, mac, node));
    };
    for (uint32_t i = 0; i < n; ++i)
    {
        install(stations.Get(i), spec[i], "ns3::StaWifiMac");
    }
    // Its own data are ARP replies, which stations of 802.11b must be able to read.
    install(ap.Get(0), {adhoc ? 'a' : 'g', adhoc ? "54" : "11", ""}, "ns3::ApWifiMac");
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetPhy()->TraceConnectWithoutContext("MonitorSnifferTx", MakeCallback(&Sent));
        auto manager = device->GetRemoteStationManager();
        manager->TraceConnectWithoutContext("MacTxDataFailed", MakeCallback(&Failed));
        manager->TraceConnectWithoutContext("MacTxRtsFailed", MakeCallback(&Failed));
    }

    // All at one point: collisions spoil every frame, as they do in ours without powers.
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(stations);
    mobility.Install(ap);

    auto interfaces = peer::Connect(NodeContainer(stations, ap), devices);
    NeighborCacheHelper caches;
    caches.PopulateNeighborCache(interfaces);

    const double start = adhoc ? 0.1 : 5; // several beacons after the last association
    std::vector<Ptr<PacketSink>> sinks;
    auto jitter = CreateObject<UniformRandomVariable>();
    const std::map<std::string, uint8_t> tos = {{"", 0}, {"be", 0}, {"bk", 0x20}, {"vi", 0xa0}, {"vo", 0xc0}};
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint16_t port = 5000 + i;
        sinks.push_back(peer::Sink(ap.Get(0), "Udp", port));
        InetSocketAddress to(interfaces.GetAddress(n), port);
        to.SetTos(tos.at(spec[i].category));
        OnOffHelper source("ns3::UdpSocketFactory", to);
        source.SetConstantRate(DataRate(48000000), datagram - 28);
        auto app = source.Install(stations.Get(i));
        app.Start(Seconds(start + jitter->GetValue(0, 0.02)));
    }

    Simulator::Stop(Seconds(start + warmup));
    Simulator::Run();
    std::vector<uint64_t> before;
    for (const auto& sink : sinks)
    {
        before.push_back(sink->GetTotalRx());
    }
    const Counts then = g_counts;
    g_modes.clear();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();

    double sum = 0;
    peer::Answer(run) << ", \"goodput_mbps\": [";
    for (uint32_t i = 0; i < n; ++i)
    {
        const double x = (sinks[i]->GetTotalRx() - before[i]) * 8 / seconds / 1e6;
        sum += x;
        std::cout << (i ? ", " : "") << x;
    }
    std::cout << "], \"total_mbps\": " << sum << ", \"exchanges\": " << g_counts.exchanges - then.exchanges
              << ", \"failures\": " << g_counts.failures - then.failures << ", \"modes\": {";
    const char* comma = "";
    for (const auto& [word, count] : g_modes)
    {
        std::cout << comma << "\"" << word << "\": " << count;
        comma = ", ";
    }
    std::cout << "}}\n";
    Simulator::Destroy();
}
