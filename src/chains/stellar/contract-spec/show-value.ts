import { Address } from '@stellar/stellar-sdk/base'
import type { ScVal } from '@stellar/stellar-sdk/xdr'

/**
 * A value of a smart contract in the notation in which requests have their arguments: the text `void`, or an
 * object whose one field names the type. Integers wider than 64 bits are decimal digits. A value that has no
 * such form, such as an error, is `{ xdr }`, in base64.
 */
export type ScShown = 'void' | { readonly [type: string]: ScShownPart }

type ScShownPart =
  | string
  | number
  | bigint
  | boolean
  | readonly ScShown[]
  | readonly { readonly key: ScShown; readonly val: ScShown }[]

/** Writes a value of a ledger. Every value has a form. Pure. */
export function showScVal(value: ScVal): ScShown {
  switch (value.type) {
    case 'scvVoid':
      return 'void'
    case 'scvBool':
      return { bool: value.b }
    case 'scvU32':
      return { u32: value.u32 }
    case 'scvI32':
      return { i32: value.i32 }
    case 'scvU64':
      return { u64: value.u64 }
    case 'scvI64':
      return { i64: value.i64 }
    case 'scvTimepoint':
      return { timepoint: value.timepoint }
    case 'scvDuration':
      return { duration: value.duration }
    case 'scvU128':
      return { u128: String((value.u128.hi << 64n) + value.u128.lo) }
    case 'scvI128':
      return { i128: String((value.i128.hi << 64n) + value.i128.lo) }
    case 'scvU256':
      return { u256: String(joined(value.u256)) }
    case 'scvI256':
      return { i256: String(joined(value.i256)) }
    case 'scvBytes':
      return { bytes: Buffer.from(value.bytes.toBytes()).toString('hex') }
    case 'scvString':
      return showText(value, 'string', value.str)
    case 'scvSymbol':
      return showText(value, 'symbol', value.sym)
    case 'scvAddress':
      return { address: Address.fromScAddress(value.address).toString() }
    case 'scvVec':
      return { vec: (value.vec ?? []).map(showScVal) }
    case 'scvMap':
      return { map: (value.map ?? []).map(({ key, val }) => ({ key: showScVal(key), val: showScVal(val) })) }
    default:
      return { xdr: value.toXdr('base64') }
  }
}

interface Quarters {
  readonly hiHi: bigint
  readonly hiLo: bigint
  readonly loHi: bigint
  readonly loLo: bigint
}

function joined({ hiHi, hiLo, loHi, loLo }: Quarters): bigint {
  return (hiHi << 192n) + (hiLo << 128n) + (loHi << 64n) + loLo
}

/** A text of a contract may be any bytes; JSON has only those that are UTF-8. */
function showText(
  value: ScVal,
  type: 'string' | 'symbol',
  text: { asStringOrBytes(): string | Uint8Array },
): ScShown {
  const read = text.asStringOrBytes()
  return typeof read === 'string' ? { [type]: read } : { xdr: value.toXdr('base64') }
}
