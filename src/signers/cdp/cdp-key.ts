import { evmAddress } from '../evm-address.ts'
import { libsecp256k1 } from '../libsecp256k1.ts'
import { textIn } from '../remote/json-object.ts'
import { type PublicKeys, RemoteFault, type RemoteKey } from '../remote/remote-key.ts'
import type { CdpClient } from './cdp-client.ts'

interface CdpKeyOptions {
  readonly cdp: CdpClient
  /** The address of an EVM account. */
  readonly accountAddress: string
}

/** The signature of this text tells the public key. It is neither a hash nor the encoding of a transaction. */
const QUESTION = Buffer.from('multichain-relayer: who are you?')

const SIGNATURE_BYTES = 64

/**
 * Connects to an EVM account of the Coinbase Developer Platform. The platform tells addresses alone, so the public key is recovered from one
 * signature; later checks only read the account, because signatures cost money.
 */
export function connectCdp({ cdp, accountAddress }: CdpKeyOptions): RemoteKey {
  const path = `evm/accounts/${accountAddress}`
  let known: PublicKeys | undefined

  async function sign(digest: Uint8Array): Promise<Buffer> {
    const answer = await cdp(`${path}/sign`, { hash: `0x${Buffer.from(digest).toString('hex')}` })
    const digits = /^0x([0-9a-fA-F]{130})$/.exec(textIn(answer, 'signature'))?.[1]
    if (digits === undefined) throw new RemoteFault('unavailable', 'gave a signature that cannot be read')
    return Buffer.from(digits, 'hex')
  }

  async function recover(): Promise<PublicKeys> {
    const signature = await sign(QUESTION)
    const found = ([0, 1] as const)
      .map((recovery) => recoverKey(signature, recovery))
      .find((key) => key !== undefined && isSame(evmAddress(key), accountAddress))
    if (found === undefined) throw new RemoteFault('refused', 'gave a signature that is not by the account')
    return { secp256k1: found }
  }

  async function check(): Promise<void> {
    if (!isSame(textIn(await cdp(path), 'address'), accountAddress))
      throw new RemoteFault('unavailable', 'gave an answer about another account')
  }

  return {
    name: `Coinbase account ${accountAddress}`,
    publicKeys: async () => {
      if (known !== undefined) await check()
      known ??= await recover()
      return known
    },
    sign: async ({ payload }) => new Uint8Array((await sign(payload)).subarray(0, SIGNATURE_BYTES)),
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function recoverKey(signature: Buffer, recovery: 0 | 1): Uint8Array | undefined {
  try {
    const bytes = Uint8Array.from(signature.subarray(0, SIGNATURE_BYTES))
    return libsecp256k1().ecdsaRecover(bytes, recovery, Uint8Array.from(QUESTION), false)
  } catch {
    return undefined // Not every r is the coordinate of a point.
  }
}
