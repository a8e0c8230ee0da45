import { randomBytes } from 'node:crypto'
import {
  Account,
  Address,
  authorizeEntry,
  Contract,
  type Keypair,
  nativeToScVal,
  Operation,
  rpc,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import type { TestLedger } from '../../../simulators/stellar/start-ledger.ts'

/** Who pays whom, where. */
export interface StellarPaymentParts {
  readonly ledger: TestLedger
  readonly payer: Keypair
  readonly payTo: string
  readonly passphrase: string
  /** In stroops; some facilitators want the envelope to cover its resources. */
  readonly fee?: string
  /** The contract of a token; that of the native asset if absent. */
  readonly asset?: string
  /** The authorization names its account in what is signed (CAP-71). */
  readonly isBound?: boolean
  /** Ledgers until it expires; 60 if absent. */
  readonly ledgers?: number
}

/** Makes the body of a request to verify or to settle a payment of 10000 stroops, as a resource server sends it. */
export async function stellarPayment({
  ledger,
  payer,
  payTo,
  passphrase,
  fee = '100',
  asset = ledger.nativeContract,
  isBound = false,
  ledgers = 60,
}: StellarPaymentParts) {
  const account = (address: string) => nativeToScVal(address, { type: 'address' })
  const args = [account(payer.publicKey()), account(payTo), nativeToScVal(10_000n, { type: 'i128' })]
  const call = new Contract(asset).call('transfer', ...args)
  if (call.body.type !== 'invokeHostFunction') throw new Error('a call of a contract is an invocation')
  const nonce = randomBytes(8).readBigInt64BE()
  const unsigned = new xdr.SorobanAddressCredentials({
    address: Address.fromString(payer.publicKey()).toScAddress(),
    nonce,
    signatureExpirationLedger: 0,
    signature: xdr.ScVal.scvVoid(),
  })
  const entry = new xdr.SorobanAuthorizationEntry({
    credentials: isBound
      ? xdr.SorobanCredentials.sorobanCredentialsAddressV2(unsigned)
      : xdr.SorobanCredentials.sorobanCredentialsAddress(unsigned),
    rootInvocation: new xdr.SorobanAuthorizedInvocation({
      function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(
        new xdr.InvokeContractArgs({
          contractAddress: Address.fromString(asset).toScAddress(),
          functionName: 'transfer',
          args,
        }),
      ),
      subInvocations: [],
    }),
  })
  const last = (ledger.ledgers.at(-1)?.sequence ?? 0) + ledgers
  const signed = await authorizeEntry(entry, payer, last, passphrase)
  const { hostFunction } = call.body.invokeHostFunctionOp
  const transaction = new TransactionBuilder(new Account(payTo, '0'), {
    fee,
    networkPassphrase: passphrase,
  })
    .addOperation(Operation.invokeHostFunction({ func: hostFunction, auth: [signed] }))
    .setTimeout(300)
    .build()
    .toXDR()
  const requirements = {
    scheme: 'exact',
    network: 'stellar:testnet',
    amount: '10000',
    asset,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { areFeesSponsored: true },
  }
  const body = {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: requirements, payload: { transaction } },
    paymentRequirements: requirements,
  }
  return { body, identity: [asset, payer.publicKey(), nonce.toString()], operation: { hostFunction, signed } }
}

/**
 * Somebody else sends a payment, as anyone can who has seen its authorization. Returns the hash of the
 * transaction.
 */
export async function sendFirst(
  { ledger, passphrase, sender }: Pick<StellarPaymentParts, 'ledger' | 'passphrase'> & { sender: Keypair },
  {
    hostFunction,
    signed,
  }: { readonly hostFunction: xdr.HostFunction; readonly signed: xdr.SorobanAuthorizationEntry },
): Promise<string> {
  const client = new rpc.Server(ledger.url, { allowHttp: true })
  const draft = new TransactionBuilder(await client.getAccount(sender.publicKey()), {
    fee: '1000000',
    networkPassphrase: passphrase,
  })
    .addOperation(Operation.invokeHostFunction({ func: hostFunction, auth: [signed] }))
    .setTimeout(300)
    .build()
  const transaction = await client.prepareTransaction(draft)
  transaction.sign(sender)
  return (await client.sendTransaction(transaction)).hash
}
