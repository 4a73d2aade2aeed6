#include "export/html/style.h"

namespace gs::html {

std::string_view pictureStyle() {
    return R"css(
:root{color-scheme:light dark;--window:#f6f7f9;--panel:#fff;--border:#d9dde3;--soft:#e9ecf0;--text:#1c2530;
--muted:#5f6b7a;--field:#eef1f5;--accent:#0b6bcb;--compute:#8aa0b8;--gather:#e8a33d;--other:#4fa3a5;
--exposed:#d1495b;--good:#2f9e77;--live:#6c4bb6;--warning:#b7791f;--ink:#3a2a08}
@media (prefers-color-scheme:dark){:root{--window:#14181d;--panel:#1b2027;--border:#2c343d;--soft:#242b33;
--text:#e6ebf0;--muted:#8d99a6;--field:#262d35;--accent:#59a7f0;--compute:#5f7891;--gather:#d9952f;--other:#3f8b8d;
--exposed:#e0667a;--good:#4cc196;--live:#a48be0;--warning:#e0b04c;--ink:#1d1503}}
@media print{:root{color-scheme:light;--window:#fff;--panel:#fff;--border:#d9dde3;--soft:#e9ecf0;--text:#1c2530;
--muted:#5f6b7a;--field:#eef1f5;--accent:#0b6bcb;--compute:#8aa0b8;--gather:#e8a33d;--other:#4fa3a5;
--exposed:#d1495b;--good:#2f9e77;--live:#6c4bb6;--warning:#b7791f;--ink:#3a2a08}}
svg{display:block;width:100%;height:auto;font-family:Inter,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
svg text{font-size:10.5px;fill:var(--muted);font-variant-numeric:tabular-nums}
svg .paper{fill:var(--panel)}
svg .part-title{font-size:12.5px;font-weight:600;fill:var(--text)}
svg .lane-label{font-size:11px;fill:var(--text)}
svg .slice-label{font-size:9.5px;fill:var(--ink)}
svg .lane{fill:var(--field)}
svg .grid{stroke:var(--soft);stroke-width:1}
svg .step-end{stroke:var(--text);stroke-width:1.5;stroke-dasharray:3 2}
svg .s-compute{fill:var(--compute)}svg .s-stall{fill:var(--exposed)}svg .s-gather{fill:var(--gather)}
svg .s-other{fill:var(--other)}svg .s-slack{fill:var(--muted)}svg .s-contention{fill:var(--gather);opacity:.45}
svg .s-carry{fill:var(--live)}svg .s-rest{fill:var(--compute);opacity:.5}svg .s-good{fill:var(--good)}
svg .need-mark{stroke:var(--text);stroke-width:1.5}
svg .bytes-area{fill:var(--live);opacity:.16}
svg .bytes-after{fill:none;stroke:var(--live);stroke-width:1.5}
svg .bytes-before{fill:none;stroke:var(--muted);stroke-width:1.2;stroke-dasharray:4 3}
svg .p-measured{fill:var(--good)}svg .p-imported{fill:var(--other)}svg .p-modelled{fill:var(--compute)}
svg .p-user{fill:var(--live)}svg .p-missing{fill:var(--exposed)}
)css";
}

std::string_view pageStyle() {
    return R"css(
*{box-sizing:border-box}
body{margin:0;background:var(--window);color:var(--text);font:14px/1.5 Inter,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
font-variant-numeric:tabular-nums}
main{max-width:1240px;margin:0 auto;padding:28px 24px 48px}
header .brand{color:var(--muted);font-size:12px;letter-spacing:.08em;text-transform:uppercase;font-weight:600}
h1{font-size:27px;line-height:1.25;margin:2px 0 4px;overflow-wrap:anywhere;letter-spacing:-.01em}
h2{font-size:17px;margin:0 0 4px;letter-spacing:-.005em}
h3{font-size:14px;margin:0;overflow-wrap:anywhere}
.sub{color:var(--muted);margin:0}.lead{font-size:16px;margin:14px 0 0;max-width:78ch}
.note{color:var(--muted);margin:0 0 12px;max-width:92ch}
section{background:var(--panel);border:1px solid var(--border);border-radius:10px;padding:18px 20px;margin-top:18px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin-top:20px}
.tile{background:var(--panel);border:1px solid var(--border);border-radius:10px;padding:12px 16px 13px}
.tile .name{color:var(--muted);font-size:12px}
.tile .value{font-size:23px;font-weight:600;letter-spacing:-.01em;margin-top:1px;white-space:nowrap}
.tile .was{color:var(--muted);font-size:12px}.tile .was b{font-weight:600}
.up{color:var(--exposed)}.down{color:var(--good)}
.caution{border-left:3px solid var(--warning);background:var(--panel);border-radius:6px;padding:8px 14px;margin:16px 0 0}
.caution p{margin:2px 0}
.legend{display:flex;flex-wrap:wrap;gap:4px 18px;color:var(--muted);font-size:12px;margin:10px 0 0}
.legend span::before{content:"";display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px;
vertical-align:-1px;background:var(--c)}
.wide{overflow-x:auto}.wide>svg{min-width:820px}table.data td:first-child{min-width:116px}
table.data{border-collapse:collapse;width:100%;font-size:12.5px}
table.data th{text-align:left;font-weight:600;color:var(--muted);font-size:11.5px;padding:5px 10px 5px 0;
border-bottom:1px solid var(--border);vertical-align:bottom;white-space:nowrap}
table.data td{padding:5px 10px 5px 0;border-bottom:1px solid var(--soft);vertical-align:top;overflow-wrap:anywhere}
table.data td.n,table.data th.n{text-align:right;white-space:nowrap}
table.data tr:last-child td{border-bottom:0}
table.data td svg{width:150px;margin-top:4px}
code{font-family:"JetBrains Mono","SF Mono",Consolas,"DejaVu Sans Mono",monospace;font-size:.92em;unicode-bidi:isolate}
.pill{display:inline-block;border-radius:9px;padding:0 8px;font-size:11.5px;line-height:18px;font-weight:600;
white-space:nowrap;border:1px solid currentColor}
.pill.good{color:var(--good)}.pill.bad{color:var(--exposed)}.pill.warn{color:var(--warning)}.pill.plain{color:var(--muted)}
details{margin-top:12px}summary{cursor:pointer;color:var(--accent);font-size:13px;padding:3px 0}
details[open]>summary{margin-bottom:8px}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(460px,100%),1fr));gap:14px;margin-top:12px;align-items:start}
.card{border:1px solid var(--border);border-radius:8px;padding:14px 16px;break-inside:avoid;background:var(--window)}
.card .head{display:flex;justify-content:space-between;gap:10px;align-items:baseline}
.card p{margin:6px 0}.card .why{color:var(--muted)}.card svg{margin:8px 0 2px}
dl{display:grid;grid-template-columns:fit-content(46%) 1fr;gap:2px 14px;margin:8px 0 0;font-size:12.5px}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}
.flip{margin:8px 0 0;padding:0;list-style:none;font-size:12.5px}.flip li{padding:2px 0 2px 16px;position:relative}
.flip li::before{content:"→";position:absolute;left:0;color:var(--accent)}
.settings{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:0 24px;font-size:12.5px}
.settings div{display:flex;justify-content:space-between;gap:10px;padding:4px 0;border-bottom:1px solid var(--soft)}
.settings .changed{font-weight:600}.settings .changed::before{content:"●";color:var(--accent);margin-right:6px}
.settings span:first-child{flex:1}.settings code{text-align:right;overflow-wrap:anywhere}
footer{color:var(--muted);font-size:12px;margin-top:22px}
@page{size:A4 landscape;margin:11mm}
@media print{main{max-width:none;padding:0}body{font-size:11px}table.data,dl,.settings{font-size:9.5px}table.data th{font-size:9px}
.wide{overflow:visible}.wide>svg{min-width:0}table.data td:first-child{min-width:90px}section{padding:12px 14px;margin-top:12px}section{break-inside:auto}
h2{break-after:avoid}svg,tr{break-inside:avoid}.tiles{grid-template-columns:repeat(5,1fr)}.tile .value{font-size:17px}
.cards{grid-template-columns:1fr 1fr}details:not([open]){display:none}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";
}

} // namespace gs::html
