import { ON_ANVIL } from '../../../test/support/anvil.ts'
import { plainSigner } from '../../../test/support/service.ts'

/** A configuration file with this many relayers, `relayer-0` and so on, spread over the networks; each has an account of its own. */
export function manyRelayers(count: number, networks: readonly { readonly network: string }[]) {
  const numbers = Array.from({ length: count }, (_, index) => index)
  return {
    networks,
    signers: numbers.map((index) => plainSigner(`signer-${index}`, keyOf(index))),
    relayers: numbers.map((index) => ({
      id: `relayer-${index}`,
      name: `Relayer ${index}`,
      signer_id: `signer-${index}`,
      ...ON_ANVIL,
      network: networks[index % networks.length]?.network,
    })),
  }
}

/** Gives each relayer its own key. Any number from 1 up to the order of the curve is a private key. */
export function keyOf(index: number): `0x${string}` {
  return `0x${(index + 1).toString(16).padStart(64, '0')}`
}
