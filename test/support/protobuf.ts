/** A decoded message: the values of each field number, in order. */
export type Message = ReadonlyMap<number, readonly (Uint8Array | bigint)[]>

/** Decodes the wire format of Protocol Buffers: varints and fixed numbers as bigint, everything with a length as bytes. */
export function decodeMessage(bytes: Uint8Array): Message {
  const fields = new Map<number, (Uint8Array | bigint)[]>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = view.getUint8(at)
      at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const read = (type: number): Uint8Array | bigint => {
    if (type === 0) return varint()
    const length = type === 2 ? Number(varint()) : type === 1 ? 8 : 4
    at += length
    if (type === 1) return view.getBigUint64(at - 8, true)
    if (type === 5) return BigInt(view.getUint32(at - 4, true))
    if (type !== 2) throw new Error(`wire type ${type} is not known`)
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const number = tag >> 3
    fields.set(number, [...(fields.get(number) ?? []), read(tag & 7)])
  }
  return fields
}

export function messagesIn(message: Message, field: number): Message[] {
  return (message.get(field) ?? []).map((value) => decodeMessage(value as Uint8Array))
}

export function textIn(message: Message, field: number): string {
  return Buffer.from((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array).toString('utf8')
}

export function hexIn(message: Message, field: number): string {
  return Buffer.from((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array).toString('hex')
}

export function numberIn(message: Message, field: number): bigint {
  return (message.get(field)?.[0] ?? 0n) as bigint
}

/** A number that was sent as 64 bits of a double. */
export function doubleOf(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0] ?? Number.NaN
}

/** Repeated numbers of 64 bits in one field. */
export function packedIn(message: Message, field: number): bigint[] {
  const bytes = Uint8Array.from((message.get(field)?.[0] ?? new Uint8Array()) as Uint8Array)
  return [...new BigUint64Array(bytes.buffer)]
}
