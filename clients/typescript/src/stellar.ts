import { type contract, hash, Keypair, TransactionBuilder } from '@stellar/stellar-sdk'
import { RelayerError } from './errors/relayer-error.ts'
import type { RelayerReference } from './relayer-reference.ts'
import { requireNetworkType } from './require-network-type.ts'

export type { RelayerReference } from './relayer-reference.ts'

/** What `contract.Client` takes of an account that signs. */
export interface RelayerContractSigner {
  readonly publicKey: string
  readonly signTransaction: contract.SignTransaction
  readonly signAuthEntry: contract.SignAuthEntry
}

/**
 * The account of a relayer on Stellar, for a `contract.Client`. The client sends the transaction itself, with the next sequence number of the
 * account, which the service does not know of: let such a relayer send nothing at the same time. `signAuthEntry` authorizes calls in a
 * transaction of another account, for which that does not matter.
 *
 * The API key needs `relayers:read` and `sign`.
 *
 * @throws RelayerApiError if the API key may not see the relayer, and RelayerError when it is on another type of network
 */
export async function relayerSigner({ client, relayerId }: RelayerReference): Promise<RelayerContractSigner> {
  const { address: publicKey } = requireNetworkType(await client.relayers.get(relayerId), 'stellar')
  const requireOwn = (address: string) => {
    if (address !== publicKey)
      throw new RelayerError(`address: relayer ${relayerId} signs for ${publicKey}, not for ${address}`)
  }
  return {
    publicKey,
    signTransaction: async (unsigned, { address = publicKey, networkPassphrase, submit } = {}) => {
      requireOwn(address)
      if (submit)
        throw new RelayerError('submit: false is expected, because the caller sends what is only signed')
      const signed = await client.relayers.signTransaction(relayerId, { unsigned_xdr: unsigned })
      if (!('signedXdr' in signed)) throw new RelayerError('a signed transaction of Stellar is expected')
      if (networkPassphrase !== undefined && !isSigned(signed, publicKey, networkPassphrase))
        throw new RelayerError(`networkPassphrase: relayer ${relayerId} is on another network`)
      return { signedTxXdr: signed.signedXdr, signerAddress: publicKey }
    },
    signAuthEntry: async (preimage, { address = publicKey, networkPassphrase } = {}) => {
      requireOwn(address)
      const signed = await client.relayers.signAuthorizationEntry(relayerId, { preimage_xdr: preimage })
      if (signed.signature === undefined) throw new RelayerError('a signature in base64 is expected')
      if (networkPassphrase !== undefined && !isForNetwork(preimage, networkPassphrase))
        throw new RelayerError(`networkPassphrase: relayer ${relayerId} is on another network`)
      if (!Keypair.fromPublicKey(publicKey).verify(hash(bytesOf(preimage)), bytesOf(signed.signature)))
        throw new RelayerError(`signature: the service did not sign with the key of ${publicKey}`)
      return { signedAuthEntry: signed.signature, signerAddress: publicKey }
    },
  }
}

/** The preimage begins with its type, in 4 bytes, and the id of the network, which is the hash of the passphrase. */
function isForNetwork(preimage: string, passphrase: string): boolean {
  const networkId = bytesOf(preimage).subarray(4, 36)
  return hash(passphrase).every((byte, index) => byte === networkId[index])
}

interface Signed {
  readonly signedXdr: string
  readonly signature: string
}

/** Checks the signature, because the service signs for the network of the relayer alone. */
function isSigned({ signedXdr, signature }: Signed, publicKey: string, passphrase: string): boolean {
  const signed = TransactionBuilder.fromXDR(signedXdr, passphrase).hash()
  return Keypair.fromPublicKey(publicKey).verify(signed, bytesOf(signature))
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
}
