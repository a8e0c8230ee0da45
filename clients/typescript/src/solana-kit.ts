import {
  address,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  type SignatureBytes,
  type Transaction,
  type TransactionSendingSigner,
} from '@solana/kit'
import type { RelayerReference } from './relayer-reference.ts'
import { requireNetworkType } from './require-network-type.ts'
import { firstAttempt } from './transactions/attempts.ts'
import { sendUntilSigned } from './transactions/send-until-signed.ts'

export type { RelayerReference } from './relayer-reference.ts'

/**
 * The account of a relayer on Solana, as the fee payer of transactions that the service sends. It resolves to the first signature of each
 * transaction, as soon as that is signed. Where no one else signs, the service can send it again later, with a new blockhash and signature.
 *
 * The API key needs `relayers:read`, `transactions:write` and `transactions:read`.
 *
 * The promise of a send that the service accepted and does not show rejects with TransactionUnseenError: do not send that again.
 *
 * @throws RelayerApiError if the API key may not see the relayer, and RelayerError when it is on another type of network
 */
export async function relayerSigner({
  client,
  relayerId,
}: RelayerReference): Promise<TransactionSendingSigner> {
  const relayer = requireNetworkType(await client.relayers.get(relayerId), 'solana')

  async function send(transaction: Transaction, signal: AbortSignal | undefined): Promise<SignatureBytes> {
    const options = signal === undefined ? {} : { signal }
    const body = { transaction: getBase64EncodedWireTransaction(transaction) }
    const sent = await sendUntilSigned({ client, relayerId }, body, options)
    return getBase58Encoder().encode(firstAttempt(sent)?.hash ?? '') as SignatureBytes
  }

  return {
    address: address(relayer.address),
    signAndSendTransactions: async (transactions, { abortSignal } = {}) => {
      const signatures: SignatureBytes[] = []
      // One after the other: the service keeps the order in which it accepts them.
      for (const transaction of transactions) signatures.push(await send(transaction, abortSignal))
      return signatures
    },
  }
}
