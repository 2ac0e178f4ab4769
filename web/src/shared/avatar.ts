/** A drawing of 5 × 5 cells, the same for the same member for ever, as pages/entry.go makes it too. */
export interface Drawing {
  path: string;
  fill: string;
}

export function draw(member: string): Drawing {
  const h = hash(new TextEncoder().encode(member));
  let path = "";
  for (let i = 0; i < 15; i++) {
    if (((h >>> i) & 1) === 0 && i !== 12) continue; // the middle is always there
    const x = Math.floor(i / 5);
    const y = i % 5;
    path += cell(x, y);
    if (x < 2) path += cell(4 - x, y);
  }
  const hue = Math.floor((((h >>> 15) & 511) * 360) / 512);
  return { path, fill: `hsl(${hue} 62% ${46 + ((h >>> 24) & 3) * 4}%)` };
}

const cell = (x: number, y: number) => `M${x} ${y}h1v1h-1z`;

/** FNV-1a of the bytes, mixed as MurmurHash3 ends. */
function hash(bytes: Uint8Array): number {
  let h = 2166136261;
  for (const b of bytes) h = Math.imul(h ^ b, 16777619);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The address of a member's own picture when it is one that a page may load: a picture itself, or a file of this server. */
export function picture(address: string | undefined): string | undefined {
  if (!address) return undefined;
  if (/^data:image\/(png|jpeg|gif|webp|avif|svg\+xml)[;,]/.test(address)) return address;
  return URL.canParse(address, location.href) && new URL(address, location.href).origin === location.origin ? address : undefined;
}
