// SINR at which ns-3 loses a tenth of frames, by bisection over its error rate models. Prints ns3.csv to standard output.
//
// make ns3 && g++ -O2 -std=c++17 ns3_curves.cc -o ns3_curves $(pkg-config --cflags --libs ns3-wifi) && ./ns3_curves > ns3.csv
#include "ns3/core-module.h"
#include "ns3/wifi-module.h"

#include <cmath>
#include <cstdio>

int main()
{
    struct Case { const char* mode; const char* mbps; unsigned bits; };
    const Case cases[] = {
        {"DsssRate1Mbps", "1", 8192},   {"DsssRate2Mbps", "2", 8192},   {"DsssRate5_5Mbps", "5.5", 8192},
        {"DsssRate11Mbps", "11", 8192}, {"OfdmRate6Mbps", "6", 8000},   {"OfdmRate9Mbps", "9", 8000},
        {"OfdmRate12Mbps", "12", 8000}, {"OfdmRate18Mbps", "18", 8000}, {"OfdmRate24Mbps", "24", 8000},
        {"OfdmRate36Mbps", "36", 8000}, {"OfdmRate48Mbps", "48", 8000}, {"OfdmRate54Mbps", "54", 8000},
    };
    auto model = ns3::CreateObject<ns3::NistErrorRateModel>();
    std::printf("rate_mbps,bits,loss,sinr_db\n");
    for (const Case& c : cases)
    {
        ns3::WifiMode mode(c.mode);
        ns3::WifiTxVector vector;
        vector.SetMode(mode);
        for (double loss : {0.01, 0.1, 0.5, 0.9})
        {
            double low = -20, high = 40;
            for (int i = 0; i < 60; ++i)
            {
                const double middle = (low + high) / 2;
                const double kept = model->GetChunkSuccessRate(mode, vector, std::pow(10.0, middle / 10), c.bits);
                (kept < 1 - loss ? low : high) = middle;
            }
            std::printf("%s,%u,%g,%.4f\n", c.mbps, c.bits, loss, high);
        }
    }
}
