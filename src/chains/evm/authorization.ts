import type { Hex } from 'viem'
import { hashAuthorization, hexToBytes } from 'viem/utils'
import { evmAddress } from '../../signers/evm-address.ts'
import { libsecp256k1 } from '../../signers/libsecp256k1.ts'
import type { Authorization } from './content.ts'

/** Half of the order of the curve: a signature with a higher `s` counts nowhere (EIP-7702). */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n

/** Returns the account that signed the authorization, in EIP-55; undefined when its signature is none. */
export function authorityOf({ address, chainId, nonce, yParity, r, s }: Authorization): string | undefined {
  if (BigInt(s) > HALF_ORDER) return undefined
  const hash = hashAuthorization({ address: address as Hex, chainId, nonce: Number(nonce) })
  const signature = Buffer.concat([hexToBytes(r as Hex), hexToBytes(s as Hex)])
  try {
    return evmAddress(libsecp256k1().ecdsaRecover(signature, yParity, hexToBytes(hash), false))
  } catch {
    return undefined // The library throws for numbers that are no point of the curve.
  }
}
