#include "report/record/mlperf_chinese.hpp"

#include <map>

namespace ridge::report {

namespace {

/// What headings of tables are called in Chinese.
const std::map<std::string, std::string, std::less<>>& dictionary() {
  static const std::map<std::string, std::string, std::less<>> words = {
      {"benchmark", "基准"},
      {"accelerator", "加速器"},
      {"accelerators", "加速器数"},
      {"scenario", "场景"},
      {"scenario over Offline", "场景（对 Offline）"},
      {"round", "轮次"},
      {"rounds", "轮次"},
      {"suite", "套件"},
      {"date", "日期"},
      {"results", "结果数"},
      {"coverage", "覆盖范围"},
      {"source", "来源"},
      {"mean", "均值"},
      {"unit", "单位"},
      {"least", "最小"},
      {"greatest", "最大"},
      {"mean of a system", "整机均值"},
      {"its accelerators", "整机加速器数"},
      {"rule", "规则"},
      {"rows", "行数"},
      {"what it does", "作用"},
      {"architecture", "架构"},
      {"16-bit", "16 位"},
      {"8-bit", "8 位"},
      {"4-bit", "4 位"},
      {"memory", "显存"},
      {"capacity", "容量"},
      {"bandwidth", "带宽"},
      {"TDP", "热设计功耗"},
      {"scale-up domain", "互连域"},
      {"model", "模型类型"},
      {"first", "甲"},
      {"second", "乙"},
      {"first, per accelerator", "甲，每加速器"},
      {"second, per accelerator", "乙，每加速器"},
      {"per accelerator", "每加速器之比"},
      {"per system", "每系统之比"},
      {"accelerators in a system", "系统内加速器数"},
      {"median", "中位数"},
      {"10th percentile", "第 10 百分位"},
      {"90th percentile", "第 90 百分位"},
      {"systems", "系统数"},
      {"newer", "新"},
      {"older", "旧"},
      {"16-bit peak", "16 位峰值"},
      {"narrowest peak", "最窄格式峰值"},
      {"± bandwidth", "± 带宽"},
      {"compute", "算力"},
      {"± compute", "± 算力"},
      {"their correlation", "相关系数"},
      {"bandwidth alone", "仅带宽"},
      {"compute alone", "仅算力"},
      {"points", "点数"},
      {"newest over first", "最新对最初"},
      {"tokens implied", "所含 token 数"},
      {"median distance from it", "与其相差（中位数）"},
      {"row", "行"},
      {"measured", "实测"},
      {"predicted", "预测"},
      {"predicted over measured", "预测/实测"},
      {"plan", "方案"},
      {"bound by", "受限于"},
      {"divided by one node", "误除以单节点"},
      {"right", "正确值"},
      {"too high by", "偏高"},
      {"accelerator as published", "加速器（原名）"},
  };
  return words;
}

/// What rules do and rounds cover, in Chinese; by the rule's name or the English text.
const std::map<std::string, std::string, std::less<>>& sentences() {
  static const std::map<std::string, std::string, std::less<>> words = {
      {"inference", "推理"},
      {"training", "训练"},
      {"no-accelerator", "加速器为空、“-”或“N/A”：纯处理器系统"},
      {"accelerator-alias", "加速器以非常用名称公布（accelerators.csv）"},
      {"memory-from-platform", "GH200 名称未写显存：平台名含 144GB 则为 144 GB，否则为 96 GB"},
      {"sockets-are-not-nodes", "“1-node-2S”系统写 2 个节点：数的是插槽，实为 1 个节点"},
      {"per-node-is-total", "v4.0 Juniper 将两节点 × 8 写成每节点 16：16 为总数"},
      {"nodes-times-per-node", "多节点：加速器总数 = 节点数 × 每节点加速器数（NVL72 = 18 × 4）"},
      {"count-in-name", "名称中的“(x87)”或“(x32), … (x16)”才是数量，而非节点数 × 每节点数"},
      {"benchmark-alias", "基准以其他名称公布（benchmarks.csv）：“resnet”“llama3_1-405b”"},
      {"interactive-is-a-scenario", "v5.0 的模型“llama2-70b-interactive”即 llama2-70b 的 Interactive 场景"},
      {"whisper-counts-tokens", "Whisper 标为 samples/s；凡有日志者，其值均为 tokens/s"},
      {"llama2-offline-counts-tokens", "v4.0 llama2-70b Offline 标为 samples/s；其值为 tokens/s"},
      {"llama2-server-from-log", "v4.0 llama2-70b Server 以 queries/s 计：改用日志中完成的 tokens/s"},
      {"interactive-counts-tokens", "v5.1 llama3.1-8b Interactive 标为 queries/s；其值为 tokens/s"},
      {"label-against-log", "标签不是 tokens/s，但其值等于日志中的 tokens/s"},
      {"gptj-samples-to-tokens",
       "以 samples/s 或 queries/s 公布的 GPT-J（v3.1、v4.0）乘以每样本 69 个 token，与 v4.1 一致"},
      {"server-counts-scheduled",
       "不计 token 的 Server 结果：v4.0 及之前按计划样本计，之后按完成样本计（相差 1 至 3 %）；数值不变"},
      {"power-tuned", "MaxQ 系统为能效调优：加以标记，不计入性能"},
      {"virtualised", "虚拟加速器单独成组，并记下其底层加速器"},
      {"availability-spelling", "“Available on-premise”“onprem”“cloud”均为 available；未写者为 unknown"},
      {"format-spelling", "“INT8”“float8”“bfloat16”等统一写法"},
      {"copied-99", "99 % 行与 99.9 % 行为同一次运行：加以标记，只计一次"},
      {"complete: datacenter, closed, open and network", "完整：数据中心，closed、open 与 network"},
      {"complete: datacenter, closed and open; no logs", "完整：数据中心，closed 与 open；无日志"},
      {"complete: datacenter, closed and open", "完整：数据中心，closed 与 open"},
      {"complete: datacenter, closed and open; read from a fork", "完整：数据中心，closed 与 open；取自一个分叉"},
      {"partial: closed, accelerators only; transcribed from the tables of the systems; no power, software or "
       "availability",
       "部分：仅 closed 且有加速器者；抄自各系统的结果表；无功耗、软件与可得性"},
      {"partial: 66 of about 495 records (AMD, ASUSTeK, one of Azure, all of NVIDIA)",
       "部分：约 495 条中的 66 条（AMD、ASUSTeK、Azure 一条、NVIDIA 全部）"},
      {"complete but for groups without logs", "除缺日志者外完整"},
      {"dense", "稠密"},
      {"moe", "混合专家"},
      {"all", "全部"},
      {"compute", "算力"},
      {"memory bandwidth", "显存带宽"},
      {"scale-up network", "机内互连"},
  };
  return words;
}

}  // namespace

std::string unit_in_chinese(std::string unit) {
  const std::size_t at = unit.find(" per accelerator");
  if (at != std::string::npos) unit = "每加速器 " + unit.substr(0, at);
  return unit;
}

void to_chinese(Table& table) {
  for (Column& column : table.columns) {
    if (const auto word = dictionary().find(column.heading); word != dictionary().end()) column.heading = word->second;
  }
  const bool rules = !table.columns.empty() && table.columns[0].key == "rule";
  for (auto& row : table.rows) {
    if (rules) {
      const auto sentence = sentences().find(row[0].text());
      if (sentence != sentences().end()) row[2] = Cell(sentence->second);
      continue;
    }
    for (Cell& cell : row) {
      if (cell.kind() != Cell::Kind::text) continue;
      const std::string text = cell.text();
      if (const auto sentence = sentences().find(text); sentence != sentences().end()) {
        cell = Cell(sentence->second).with(cell.emphasis());
      } else if (text.find(" per accelerator") != std::string::npos) {
        cell = Cell(unit_in_chinese(text)).with(cell.emphasis());
      }
    }
  }
}

}  // namespace ridge::report
