/** A drawing of 5 × 5 cells, the same for the same member for ever, as features/pages/entry.go makes it too. */
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

/** Pictured has the parts of a profile that may hold a picture. */
export type Pictured = { avatar_url: string; attributes: { [name: string]: unknown } } | null | undefined;

/** picture returns the address of a member's picture, or the picture in its attribute avatar, if the page may load it. */
export const picture = (profile: Pictured) => [profile?.avatar_url, profile?.attributes.avatar].find(mayLoad);

/** mayLoad: an address is a picture itself, or of this server. */
function mayLoad(address: unknown): address is string {
  if (typeof address !== "string" || !address) return false;
  if (/^data:image\/(png|jpeg|gif|webp|avif|svg\+xml)[;,]/.test(address)) return true;
  return URL.canParse(address, location.href) && new URL(address, location.href).origin === location.origin;
}

/** The attributes of a profile to show as text. A picture in the attribute avatar is shown as a picture. */
export const told = (profile: Pictured) => Object.entries(profile?.attributes ?? {}).filter(([name, value]) => name !== "avatar" || !mayLoad(value));
