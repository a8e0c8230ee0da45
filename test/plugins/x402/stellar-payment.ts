import { randomBytes } from 'node:crypto'
import {
  Account,
  Address,
  authorizeEntry,
  Contract,
  type Keypair,
  nativeToScVal,
  Operation,
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
}

/** Makes the body of a request to verify or to settle a payment of 10000 stroops, as a resource server sends it. */
export async function stellarPayment({ ledger, payer, payTo, passphrase, fee = '100' }: StellarPaymentParts) {
  const asset = ledger.nativeContract
  const account = (address: string) => nativeToScVal(address, { type: 'address' })
  const args = [account(payer.publicKey()), account(payTo), nativeToScVal(10_000n, { type: 'i128' })]
  const call = new Contract(asset).call('transfer', ...args)
  if (call.body.type !== 'invokeHostFunction') throw new Error('a call of a contract is an invocation')
  const entry = new xdr.SorobanAuthorizationEntry({
    credentials: xdr.SorobanCredentials.sorobanCredentialsAddress(
      new xdr.SorobanAddressCredentials({
        address: Address.fromString(payer.publicKey()).toScAddress(),
        nonce: randomBytes(8).readBigInt64BE(),
        signatureExpirationLedger: 0,
        signature: xdr.ScVal.scvVoid(),
      }),
    ),
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
  const last = (ledger.ledgers.at(-1)?.sequence ?? 0) + 60
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
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: requirements, payload: { transaction } },
    paymentRequirements: requirements,
  }
}
