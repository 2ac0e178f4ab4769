// SHA-256 (FIPS 180-4) that takes its input piece by piece, which the one of browsers does not.

const primes = (n: number) => {
  const out: number[] = [];
  for (let c = 2; out.length < n; c++) if (out.every((p) => c % p)) out.push(c);
  return out;
};
/** fraction returns the first 32 bits after the point. */
const fraction = (x: number) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const constants = Int32Array.from(primes(64), (p) => fraction(Math.cbrt(p)));
const initial = Int32Array.from(primes(8), (p) => fraction(Math.sqrt(p)));

const rotate = (x: number, n: number) => (x >>> n) | (x << (32 - n));

/** A Sha256 has the state of a hash of the bytes so far. */
export class Sha256 {
  #state = initial.slice();
  #block = new Uint8Array(64);
  #filled = 0;
  #length = 0;
  readonly #words = new Int32Array(64);

  update(bytes: Uint8Array): this {
    this.#length += bytes.length;
    for (let at = 0; at < bytes.length; ) {
      const n = Math.min(64 - this.#filled, bytes.length - at);
      this.#block.set(bytes.subarray(at, at + n), this.#filled);
      this.#filled += n;
      at += n;
      if (this.#filled === 64) this.#compress();
    }
    return this;
  }

  /** hex is the hash of everything so far; more may follow. */
  hex(): string {
    const end = new Sha256();
    end.#state = this.#state.slice();
    end.#block = this.#block.slice();
    end.#filled = this.#filled;
    const padding = new Uint8Array(((this.#filled < 56 ? 56 : 120) - this.#filled) + 8);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.length - 8, BigInt(this.#length) * 8n);
    end.update(padding);
    return Array.from(end.#state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }

  #compress(): void {
    const w = this.#words;
    const view = new DataView(this.#block.buffer);
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(4 * i);
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      w[i] = (w[i - 16]! + (rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3)) + w[i - 7]! + (rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10))) | 0;
    }
    let [a, b, c, d, e, f, g, h] = this.#state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const t = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[i]! + w[i]!) | 0;
      const u = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t) | 0, c, b, a, (t + u) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (this.#state[i] = (this.#state[i]! + word) | 0));
    this.#filled = 0;
  }
}
