import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { compact } from "../shared/format";

export interface PlotData {
  kind: "bars" | "line";
  x: number[];
  y: number[];
  /** Less is better: small values are above. */
  down?: boolean;
  /** Where on the x axis a line is drawn. */
  mark?: number | undefined;
  xText: (x: number) => string;
}

/** draw draws a plot into a holder, as wide as that is; what it returns takes it away. */
export function draw(holder: HTMLElement, data: PlotData): () => void {
  const style = getComputedStyle(holder);
  const [ink, grid, accent, mark] = ["--faint", "--line", "--accent", "--mark"].map((v) => resolve(style, v)) as [string, string, string, string];
  const font = `11px ${style.fontFamily}`;
  const axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
  const plot = new uPlot(
    {
      width: holder.clientWidth || 300,
      height: 150,
      cursor: { show: false },
      legend: { show: false },
      scales: { x: { time: false, range: (_, low, high) => (low === high ? [low - 1, high + 1] : [low, high]) }, y: { dir: data.down ? -1 : 1, range: (_, low, high) => (data.down ? [low - 1, high + 1] : [0, high * 1.05 || 1]) } },
      padding: [8, 16, 0, 0],
      axes: [
        { ...axis, grid: { show: false }, size: 28, space: 70, values: (_, at) => at.map((x) => data.xText(x)) },
        { ...axis, size: 46, values: (_, at) => at.map((y) => (Number.isInteger(y) && (y > 0 || !data.down) ? compact(y) : "")) },
      ],
      series: [{}, data.kind === "bars" ? { fill: accent, width: 0, points: { show: false }, paths: uPlot.paths.bars!({ size: [0.9, 64] }) } : { stroke: accent, width: 2, points: { show: true, size: 6, fill: accent } }],
      hooks: { draw: data.mark === undefined ? [] : [(u) => drawMark(u, data.mark!, mark)] },
    },
    [data.x, data.y],
    holder,
  );
  const watch = new ResizeObserver(() => holder.clientWidth > 0 && plot.setSize({ width: holder.clientWidth, height: 150 }));
  watch.observe(holder);
  return () => {
    watch.disconnect();
    plot.destroy();
  };
}

/** resolve returns a colour of the page as canvases take it, light-dark() done. */
function resolve(style: CSSStyleDeclaration, name: string): string {
  const value = style.getPropertyValue(name).trim();
  const [, light, dark] = /^light-dark\(\s*([^,]+),\s*([^)]+)\)$/.exec(value) ?? [];
  if (!light || !dark) return value;
  return matchMedia("(prefers-color-scheme: dark)").matches ? dark : light;
}

function drawMark(u: uPlot, at: number, colour: string): void {
  const x = Math.max(u.bbox.left, Math.min(u.bbox.left + u.bbox.width, u.valToPos(at, "x", true)));
  const { ctx } = u;
  ctx.save();
  ctx.fillStyle = colour;
  ctx.fillRect(x - devicePixelRatio, u.bbox.top, 2 * devicePixelRatio, u.bbox.height);
  ctx.beginPath();
  ctx.arc(x, u.bbox.top + 3 * devicePixelRatio, 4 * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
  ctx.restore();
}
