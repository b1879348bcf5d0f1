// Charts as plain drawings: bars by day, one above the other, and bars of a list. Every chart is
// also a table, for whoever does not see it.

import { count } from "./words";

export interface Series {
  label: string;
  /** The class that gives it its colour. */
  tone: string;
  values: number[];
}

/** How wide a drawing is, in the same measure as its letters. */
const WIDTHS = { whole: 800, half: 380 };
const HIGH = 130;
const FOOT = 20;

/** A round number not below this one, for the top of a chart. */
export const roundUp = (value: number): number => {
  if (value <= 5) return Math.max(1, value);
  const step = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((one) => one * step).find((one) => one >= value) ?? value;
};

/** A day in few letters. */
const short = (day: string): string => new Date(`${day}T12:00:00Z`).toLocaleDateString(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

/** Bars by day; the series stand on one another. */
export const DayBars = ({ title, days, series, width = "half", unit = String }: { title: string; days: string[]; series: Series[]; width?: "whole" | "half"; unit?: (value: number) => string }) => {
  const wide = WIDTHS[width];
  const sums = days.map((_, index) => series.reduce((sum, one) => sum + (one.values[index] ?? 0), 0));
  const top = roundUp(Math.max(...sums, 0));
  const step = wide / Math.max(1, days.length);
  const bar = Math.min(34, step * 0.68);
  const every = Math.ceil(days.length / (width === "whole" ? 8 : 5));
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
        {series.length > 1 && (
          <ul class="legend">
            {series.map((one) => (
              <li key={one.label} class={one.tone}>
                {one.label}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      <svg viewBox={`-46 -10 ${wide + 50} ${HIGH + FOOT + 12}`} role="img" aria-label={`${title}; the table below has the numbers`}>
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <line class="grid" x1={0} x2={wide} y1={HIGH * (1 - part)} y2={HIGH * (1 - part)} />
            <text class="axis" x={-8} y={HIGH * (1 - part) + 4} text-anchor="end">
              {unit(top * part)}
            </text>
          </g>
        ))}
        {days.map((day, index) => {
          let from = 0;
          return (
            <g key={day}>
              {series.map((one) => {
                const value = one.values[index] ?? 0;
                const height = (value / top) * HIGH;
                from += height;
                return value > 0 && <rect class={one.tone} key={one.label} x={index * step + (step - bar) / 2} y={HIGH - from} width={bar} height={Math.max(1, height)} rx={2} />;
              })}
              {index % every === 0 && (
                <text class="axis" x={index * step + step / 2} y={HIGH + 16} text-anchor="middle">
                  {short(day)}
                </text>
              )}
              <rect class="hit" x={index * step} y={0} width={step} height={HIGH}>
                <title>{`${short(day)}: ${series.map((one) => `${one.label} ${unit(one.values[index] ?? 0)}`).join(", ")}`}</title>
              </rect>
            </g>
          );
        })}
      </svg>
      <details class="numbers-table">
        <summary>as a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">day</th>
              {series.map((one) => (
                <th scope="col" key={one.label}>
                  {one.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.map((day, index) => (
              <tr key={day}>
                <th scope="row">{short(day)}</th>
                {series.map((one) => (
                  <td key={one.label}>{unit(one.values[index] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
};

/** A list with a bar for each row. */
export const RankBars = ({ title, rows, what }: { title: string; rows: { label: string; value: number }[]; what: [string, string] }) => {
  const top = Math.max(...rows.map((row) => row.value), 1);
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <ul class="ranks">
        {rows.map((row) => (
          <li key={row.label}>
            <code class="rank-label">{row.label}</code>
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect class="tone-asks" width={(row.value / top) * 100} height={8} rx={1} />
            </svg>
            <span class="rank-value">{count(row.value, ...what)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
};
