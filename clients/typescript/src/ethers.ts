import {
  AbstractSigner,
  BrowserProvider,
  hexlify,
  type Provider,
  resolveAddress,
  type TransactionRequest,
  type TransactionResponse,
  type TypedDataDomain,
  TypedDataEncoder,
  type TypedDataField,
  toUtf8Bytes,
} from 'ethers'
import { createRelayerResponse } from './ethers/transaction-response.ts'
import { createRelayerProvider } from './evm/relayer-provider.ts'
import type { RelayerReference } from './relayer-reference.ts'

export type { RelayerReference } from './relayer-reference.ts'

/**
 * For ethers: every answer is asked for. By default ethers repeats answers of the last 250 ms, and counts the confirmations of a receipt with a
 * block number of before its block. `wait()` then sees none, and waits for one more block, which may never come on a development chain.
 */
const NO_CACHE = -1

/**
 * The account of a relayer on an EVM network, as a signer of ethers. It hands whole transactions over to the service, so that neither ethers nor
 * the application has a nonce. `wait()` of a transaction follows the service to the attempt that counts.
 */
export class RelayerSigner extends AbstractSigner<Provider> {
  readonly #reference: RelayerReference
  readonly #parts: ReturnType<typeof createRelayerProvider>
  /** Knows the transactions of this signer. */
  readonly #own: BrowserProvider

  /** Reads go through `provider`. By default they go through the relayer, and follow its transactions from a replaced hash. */
  constructor(reference: RelayerReference, provider: Provider | null = null) {
    const parts = createRelayerProvider(reference)
    const own = new BrowserProvider(parts.provider, undefined, { cacheTimeout: NO_CACHE })
    super(provider ?? own)
    this.#reference = reference
    this.#parts = parts
    this.#own = own
  }

  /** @throws ProviderRpcError if the API key may not see the relayer */
  override async getAddress(): Promise<string> {
    return this.#own.send('eth_accounts', []).then(([address]) => address)
  }

  override connect(provider: Provider | null): RelayerSigner {
    return new RelayerSigner(this.#reference, provider)
  }

  /**
   * Sends a transaction of the relayer, and resolves as soon as it is signed.
   *
   * @throws ProviderRpcError if it has a nonce, or the service refuses it
   */
  override async sendTransaction(transaction: TransactionRequest): Promise<TransactionResponse> {
    const request = this.#own.getRpcTransaction(await this.#populate(transaction))
    const [sent, { chainId }] = [await this.#parts.sendTransaction(request), await this.#own.getNetwork()]
    return createRelayerResponse(this.#reference, { sent, chainId, provider: this.#own })
  }

  /** Signs a transaction that has its nonce, its gas and its price, and sends nothing. */
  override async signTransaction(transaction: TransactionRequest): Promise<string> {
    const request = this.#own.getRpcTransaction(await this.#populate(transaction))
    return this.#own.send('eth_signTransaction', [request])
  }

  /** Signs text, or the bytes of UTF-8 text. */
  override async signMessage(message: string | Uint8Array): Promise<string> {
    const bytes = typeof message === 'string' ? toUtf8Bytes(message) : message
    return this.#own.send('personal_sign', [hexlify(bytes), await this.getAddress()])
  }

  override async signTypedData(
    domain: TypedDataDomain,
    types: Record<string, TypedDataField[]>,
    value: Record<string, unknown>,
  ): Promise<string> {
    const resolve = (name: string) => resolveAddress(name, this.provider) as Promise<string>
    const populated = await TypedDataEncoder.resolveNames(domain, types, value, resolve)
    const document = TypedDataEncoder.getPayload(populated.domain, types, populated.value)
    return this.#own.send('eth_signTypedData_v4', [await this.getAddress(), document])
  }

  /** Resolves names, and leaves out what ethers would ask a network for. */
  async #populate(transaction: TransactionRequest): Promise<TransactionRequest> {
    return (await this.populateCall(transaction)) as TransactionRequest
  }
}
