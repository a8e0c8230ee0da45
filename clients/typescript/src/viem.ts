import { type Client, type CustomTransport, custom, type JsonRpcAccount, type Transport } from 'viem'
import { createEip1193Provider } from './eip1193.ts'
import { createEvmRelayer } from './evm/evm-relayer.ts'
import { toProviderError } from './evm/to-provider-error.ts'
import type { RelayerReference } from './relayer-reference.ts'
import { type ReceiptWait, waitForReceipt } from './viem/wait-for-receipt.ts'

export type { RelayerReference } from './relayer-reference.ts'

/**
 * Makes a transport of a relayer on an EVM network, for a client with its account. It never repeats a call, because the client of the service
 * repeats what is safe.
 */
export function relayerTransport(reference: RelayerReference): CustomTransport {
  return custom(createEip1193Provider(reference), { key: 'relayer', name: 'Relayer', retryCount: 0 })
}

/**
 * The account of a relayer, for a client with its transport. It is a JSON-RPC account: viem hands the whole transaction over, and asks for no
 * nonce, gas or price. An account that only signs would get a nonce from viem, which the relayer gives to another transaction.
 *
 * @throws ProviderRpcError if the API key may not see the relayer, or it is on another type of network
 */
export async function relayerAccount(reference: RelayerReference): Promise<JsonRpcAccount> {
  const address = await createEvmRelayer(reference)
    .address()
    .catch((error: unknown) => {
      throw toProviderError(error)
    })
  return { address, type: 'json-rpc' }
}

/** Replaces `waitForTransactionReceipt` of a client with this transport by one that knows from the service what was replaced, and why. */
export function relayerActions(reference: RelayerReference): (client: Client<Transport>) => {
  readonly waitForTransactionReceipt: ReceiptWait
} {
  return (client) => ({
    waitForTransactionReceipt: (parameters) => waitForReceipt(reference, client, parameters),
  })
}
