// A list that draws only the rows one can see: a thousand asks cost no more than ten.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Rows drawn beyond the edge, so that scrolling shows no gap. */
const SPARE = 6;

/** The rows to draw: the first, and the one behind the last. */
export const windowOf = (top: number, height: number, row: number, count: number): [number, number] => [
  Math.max(0, Math.floor(top / row) - SPARE),
  Math.min(count, Math.ceil((top + height) / row) + SPARE),
];

interface Props<T> {
  items: T[];
  /** The height of every row, in pixels. */
  row: number;
  keyOf: (item: T) => string;
  selected: string | undefined;
  label: string;
  /** Draws a row; `movedAt` says since when it stands where it does. */
  draw: (item: T, movedAt: () => number) => ComponentChildren;
}

export const WindowedList = <T,>({ items, row, keyOf, selected, label, draw }: Props<T>) => {
  const box = useRef<HTMLDivElement>(null);
  const places = useRef(new Map<string, { place: number; at: number }>());
  const [[top, height], setView] = useState<[number, number]>([0, 800]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setView([element.scrollTop, element.clientHeight]);
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  useEffect(() => {
    const element = box.current;
    const index = items.findIndex((item) => keyOf(item) === selected);
    if (!element || index < 0) return;
    if (index * row < element.scrollTop) element.scrollTop = index * row;
    else if ((index + 1) * row > element.scrollTop + element.clientHeight) element.scrollTop = (index + 1) * row - element.clientHeight;
  }, [selected]);
  const [first, behind] = windowOf(top, height, row, items.length);
  const drawn = items.slice(first, behind);
  const stands = new Map<string, { place: number; at: number }>();
  for (const [index, item] of drawn.entries()) {
    const before = places.current.get(keyOf(item));
    stands.set(keyOf(item), before?.place === first + index ? before : { place: first + index, at: performance.now() });
  }
  places.current = stands;
  return (
    <div class="windowed" ref={box} role="list" aria-label={label} tabIndex={-1}>
      <div class="windowed-inner" role="presentation" style={{ height: `${items.length * row}px` }}>
        {drawn.map((item, index) => (
          <div
            class="windowed-row"
            role="listitem"
            aria-setsize={items.length}
            aria-posinset={first + index + 1}
            key={keyOf(item)}
            style={{ transform: `translateY(${(first + index) * row}px)` }}
          >
            {draw(item, () => places.current.get(keyOf(item))?.at ?? 0)}
          </div>
        ))}
      </div>
    </div>
  );
};
