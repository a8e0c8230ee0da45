// An assembler for programs of tests, so that they are read here and not kept as bytes of a compiler. It knows the instructions
// that they need, of version 0 of sBPF, and writes the file that the loader takes (solana-sbpf `elf.rs`).

/** One line of a program: an instruction of sBPF, or the name of a place. */
export type Line =
  | { readonly label: string }
  | {
      readonly code: number
      readonly target?: number
      readonly source?: number
      /** In bytes for loads and stores. */
      readonly offset?: number
      readonly value?: number
      /** The upper half of a constant of 64 bits, which takes the place of two instructions. */
      readonly upper?: number
      readonly jumpsTo?: string
      readonly calls?: string
    }

/** The place that jumps to it name. */
export const label = (name: string): Line => ({ label: name })

/** Copies a register. */
export const copy = (target: number, source: number): Line => ({ code: 0xbf, target, source })

/** Sets a register to a constant of 32 bits. */
export const set = (target: number, value: number): Line => ({ code: 0xb7, target, value })

/** Sets a register to a constant of 64 bits. */
export const setLong = (target: number, value: bigint): Line => ({
  code: 0x18,
  target,
  value: Number(value & 0xffff_ffffn),
  upper: Number(value >> 32n),
})

const ARITHMETIC = { add: 0x07, subtract: 0x17, multiply: 0x27, and: 0x57, shiftRight: 0x77 } as const

/** Calculates with a constant. */
export const calculate = (how: keyof typeof ARITHMETIC, target: number, value: number): Line => ({
  code: ARITHMETIC[how],
  target,
  value,
})

/** Adds a register to another. */
export const addRegister = (target: number, source: number): Line => ({ code: 0x0f, target, source })

const LOADS = { 1: 0x71, 8: 0x79 } as const

/** Loads so many bytes from the address in `source`, plus `offset`. */
export const load = (bytes: keyof typeof LOADS, target: number, source: number, offset = 0): Line => ({
  code: LOADS[bytes],
  target,
  source,
  offset,
})

const STORES = { 1: 0x73, 4: 0x63, 8: 0x7b } as const

/** Stores so many bytes of `source` at the address in `target`, plus `offset`. */
export const store = (bytes: keyof typeof STORES, target: number, offset: number, source: number): Line => ({
  code: STORES[bytes],
  target,
  source,
  offset,
})

/** Jumps. */
export const jump = (jumpsTo: string): Line => ({ code: 0x05, jumpsTo })

/** Jumps if the register is this constant, or if it is not. */
export const jumpIf = (target: number, is: 'is' | 'is not', value: number, jumpsTo: string): Line => ({
  code: is === 'is' ? 0x15 : 0x55,
  target,
  value,
  jumpsTo,
})

/** Jumps if the register is not below another one. */
export const jumpUnlessBelow = (target: number, source: number, jumpsTo: string): Line => ({
  code: 0x3d,
  target,
  source,
  jumpsTo,
})

/** Calls a function of the runtime. */
export const call = (name: string): Line => ({ code: 0x85, source: 1, value: -1, calls: name })

/** Ends the program; register 0 says how. */
export const exit: Line = { code: 0x95 }

const SLOT_BYTES = 8

/** Assembles a program and puts it into the file that the loader of programs takes. */
export function assemble(lines: readonly Line[]): Uint8Array {
  const places = new Map<string, number>()
  let count = 0
  for (const line of lines) {
    if ('label' in line) places.set(line.label, count)
    else count += line.upper === undefined ? 1 : 2
  }
  const code = Buffer.alloc(count * SLOT_BYTES)
  const calls: Call[] = []
  let at = 0
  for (const line of lines) {
    if ('label' in line) continue
    const {
      code: operation,
      target = 0,
      source = 0,
      offset = 0,
      value = 0,
      upper,
      jumpsTo,
      calls: name,
    } = line
    const start = at * SLOT_BYTES
    const place = jumpsTo === undefined ? undefined : places.get(jumpsTo)
    if (jumpsTo !== undefined && place === undefined) throw new Error(`no place is called ${jumpsTo}`)
    code.writeUInt8(operation, start)
    code.writeUInt8(target | (source << 4), start + 1)
    code.writeInt16LE(place === undefined ? offset : place - at - 1, start + 2)
    code.writeInt32LE(value | 0, start + 4)
    if (upper !== undefined) code.writeInt32LE(upper | 0, start + SLOT_BYTES + 4)
    if (name !== undefined) calls.push({ name, start })
    at += upper === undefined ? 1 : 2
  }
  return link(code, calls)
}

interface Call {
  readonly name: string
  /** Where the instruction stands in the code, in bytes. */
  readonly start: number
}

interface Section {
  readonly name: string
  readonly type: number
  readonly flags: number
  readonly data: Buffer
  /** The section that it belongs to. */
  readonly link?: number
  readonly entryBytes?: number
}

const HEADER_BYTES = 64
const SEGMENT_BYTES = 56
const SECTION_BYTES = 64

/** Constants of ELF (System V ABI): what a section is, its flags, entries of the dynamic section, machine and type of the file. */
const TYPES = { code: 1, names: 3, dynamic: 6, relocations: 9, symbols: 11 }
const FLAGS = { allocated: 2, executable: 4 }
const DYNAMIC = { names: 5, symbols: 6, relocations: 17, relocationBytes: 18, relocationEntry: 19 }
const SHARED_OBJECT = 3
const MACHINE_BPF = 247
/** The relocation of a call (R_BPF_64_32). */
const CALL_RELOCATION = 10n
const SYMBOL_BYTES = 24
const RELOCATION_BYTES = 16
const GLOBAL_SYMBOL = 0x10

function link(code: Buffer, calls: readonly Call[]): Uint8Array {
  const segments = 2
  const first = HEADER_BYTES + segments * SEGMENT_BYTES
  const functions = [...new Set(calls.map(({ name }) => name))]
  const { bytes: names, at: nameAt } = namesOf(functions)
  const symbols = Buffer.alloc(SYMBOL_BYTES * (functions.length + 1))
  for (const [index, name] of functions.entries()) {
    symbols.writeUInt32LE(nameAt(name), SYMBOL_BYTES * (index + 1))
    symbols.writeUInt8(GLOBAL_SYMBOL, SYMBOL_BYTES * (index + 1) + 4)
  }
  const relocations = Buffer.alloc(RELOCATION_BYTES * calls.length)
  for (const [index, { name, start }] of calls.entries()) {
    relocations.writeBigUInt64LE(BigInt(first + start), RELOCATION_BYTES * index)
    const symbol = BigInt(functions.indexOf(name) + 1)
    relocations.writeBigUInt64LE((symbol << 32n) | CALL_RELOCATION, RELOCATION_BYTES * index + 8)
  }
  const dynamic = Buffer.alloc(16 * 6)
  const allocated = FLAGS.allocated
  const sections: readonly Section[] = [
    { name: '.text', type: TYPES.code, flags: allocated | FLAGS.executable, data: code },
    {
      name: '.dynsym',
      type: TYPES.symbols,
      flags: allocated,
      data: symbols,
      link: 3,
      entryBytes: SYMBOL_BYTES,
    },
    { name: '.dynstr', type: TYPES.names, flags: allocated, data: names },
    {
      name: '.rel.dyn',
      type: TYPES.relocations,
      flags: allocated,
      data: relocations,
      link: 2,
      entryBytes: RELOCATION_BYTES,
    },
    { name: '.dynamic', type: TYPES.dynamic, flags: allocated, data: dynamic, link: 3, entryBytes: 16 },
  ]
  const { bytes: sectionNames, at: sectionNameAt } = namesOf([
    ...sections.map(({ name }) => name),
    '.shstrtab',
  ])
  const all = [...sections, { name: '.shstrtab', type: TYPES.names, flags: 0, data: sectionNames }]
  const offsets: number[] = []
  let end = first
  for (const { data } of all) {
    offsets.push(end)
    end = aligned(end + data.length)
  }
  const offsetOf = (name: string) => offsets[all.findIndex((each) => each.name === name)] ?? 0
  const entries = [
    [DYNAMIC.names, offsetOf('.dynstr')],
    [DYNAMIC.symbols, offsetOf('.dynsym')],
    [DYNAMIC.relocations, offsetOf('.rel.dyn')],
    [DYNAMIC.relocationBytes, relocations.length],
    [DYNAMIC.relocationEntry, RELOCATION_BYTES],
  ]
  for (const [index, [tag = 0, value = 0]] of entries.entries()) writeLongs(dynamic, 16 * index, [tag, value])
  const file = Buffer.alloc(end + SECTION_BYTES * (all.length + 1))
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1], 0)
  file.writeUInt16LE(SHARED_OBJECT, 16)
  file.writeUInt16LE(MACHINE_BPF, 18)
  file.writeUInt32LE(1, 20)
  writeLongs(file, 24, [first, HEADER_BYTES, end])
  for (const [index, value] of [
    HEADER_BYTES,
    SEGMENT_BYTES,
    segments,
    SECTION_BYTES,
    all.length + 1,
    all.length,
  ].entries())
    file.writeUInt16LE(value, 52 + 2 * index)
  writeSegment(file, HEADER_BYTES, { type: 1, flags: 5, offset: first, bytes: end - first })
  writeSegment(file, HEADER_BYTES + SEGMENT_BYTES, {
    type: 2,
    flags: 4,
    offset: offsetOf('.dynamic'),
    bytes: dynamic.length,
  })
  for (const [index, { name, type, flags, data, link: belongsTo = 0, entryBytes = 0 }] of all.entries()) {
    const offset = offsets[index] ?? 0
    file.set(data, offset)
    const header = end + SECTION_BYTES * (index + 1)
    file.writeUInt32LE(sectionNameAt(name), header)
    file.writeUInt32LE(type, header + 4)
    writeLongs(file, header + 8, [flags, flags === 0 ? 0 : offset, offset, data.length])
    file.writeUInt32LE(belongsTo, header + 40)
    writeLongs(file, header + 48, [8, entryBytes])
  }
  return Uint8Array.from(file)
}

function aligned(offset: number): number {
  return Math.ceil(offset / SLOT_BYTES) * SLOT_BYTES
}

function writeLongs(into: Buffer, offset: number, values: readonly number[]): void {
  for (const [index, value] of values.entries()) into.writeBigUInt64LE(BigInt(value), offset + 8 * index)
}

function writeSegment(
  into: Buffer,
  at: number,
  { type, flags, offset, bytes }: { type: number; flags: number; offset: number; bytes: number },
): void {
  into.writeUInt32LE(type, at)
  into.writeUInt32LE(flags, at + 4)
  writeLongs(into, at + 8, [offset, offset, offset, bytes, bytes, 8])
}

/** A table of names that end with a zero, and where each begins. */
function namesOf(names: readonly string[]): { readonly bytes: Buffer; at(name: string): number } {
  const starts = new Map<string, number>()
  let text = '\0'
  for (const name of names) {
    starts.set(name, text.length)
    text += `${name}\0`
  }
  return { bytes: Buffer.from(text), at: (name) => starts.get(name) ?? 0 }
}
