import { estimateBundleFee, signAndSendBundle, signBundle, transactionsOf } from './bundle.ts'
import { METHODS, type Method, type Settings } from './config.ts'
import { KoraError } from './errors.ts'
import {
  addressOf,
  estimate,
  type MethodCall,
  payerFor,
  readFor,
  respondAfterOf,
  signerNamed,
  toNumber,
  userOf,
} from './params.ts'
import { describePolicies } from './policies.ts'
import { nextSponsor, readPool } from './pool.ts'
import { send, sign } from './send.ts'
import { readFeeTokens, type Sponsor } from './sponsor.ts'
import { withSignature } from './transactions/transaction.ts'
import { composeTransfer } from './transactions/transfer.ts'

/** What the plugin says that it is: the version of Kora whose methods it has. */
const VERSION = '2.2.0'

/** Answers a call. @throws KoraError, and the errors of the service */
export async function answer(method: string, call: MethodCall): Promise<unknown> {
  const known = METHODS.find((name) => name === method)
  if (known === undefined || !isEnabled(known, call.settings))
    throw new KoraError('MethodNotFound', `The method ${method} does not exist or is disabled.`)
  if (known === 'liveness') return null
  if (known === 'getVersion') return { version: VERSION }
  // A caller learns of it before anything is read for him.
  if (known === 'signAndSendTransaction') respondAfterOf(call.params)
  return TABLE[known](await sponsorFor(known, call), call)
}

/** Methods for which the pool takes a turn; the others ask the first relayer. */
const TAKES_TURN: readonly Method[] = ['getPayerSigner', 'transferTransaction']

/**
 * Reads the relayer that answers: the fee payer of the transaction, or the one that the caller names as the
 * signer, or the next one. @throws KoraError
 */
async function sponsorFor(method: Method, call: MethodCall): Promise<Sponsor> {
  const { world, settings, params } = call
  if (ABOUT_BUNDLES.includes(method))
    return payerFor(call, transactionsOf(params).find(({ isOurs }) => isOurs)?.base64)
  if (ABOUT_TRANSACTIONS.includes(method)) return payerFor(call, params.transaction)
  const signer = await signerNamed(call)
  if (signer !== undefined) return signer
  const { pool } = settings
  return nextSponsor(world, TAKES_TURN.includes(method) ? settings : { ...settings, pool: pool.slice(0, 1) })
}

const ABOUT_TRANSACTIONS: readonly Method[] = [
  'estimateTransactionFee',
  'signTransaction',
  'signAndSendTransaction',
]
const ABOUT_BUNDLES: readonly Method[] = ['estimateBundleFee', 'signBundle', 'signAndSendBundle']

type Handler = (sponsor: Sponsor, call: MethodCall) => Promise<unknown>

const TABLE: Readonly<Record<Exclude<Method, 'liveness' | 'getVersion'>, Handler>> = {
  getBlockhash: async ({ rpc }) => {
    const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash', [
      { commitment: 'confirmed' },
    ])
    return { blockhash: value.blockhash }
  },
  getConfig: async (sponsor, { world, settings }) => {
    const [pool, tokens] = await Promise.all([readPool(world, settings), readFeeTokens(sponsor)])
    return {
      fee_payers: pool.map(({ address }) => address),
      validation_config: describePolicies(
        sponsor,
        tokens.map(({ mint }) => mint),
      ),
      enabled_methods: enabledMethods(settings),
    }
  },
  getPayerSigner: async ({ address, paymentAddress }) => ({
    signer_address: address,
    payment_address: paymentAddress,
  }),
  getSupportedTokens: async (sponsor) => ({
    tokens: (await readFeeTokens(sponsor)).map(({ mint }) => mint),
  }),
  estimateTransactionFee: async (sponsor, { params }) => {
    const transaction = await readFor(sponsor, params.transaction, params.sig_verify === true ? 'all' : 'any')
    const { lamports, price } = await estimate(sponsor, transaction, params)
    return {
      fee_in_lamports: lamports,
      ...(price !== undefined && { fee_in_token: toNumber(price) }),
      signer_pubkey: sponsor.address,
      payment_address: sponsor.paymentAddress,
    }
  },
  signTransaction: async (sponsor, { params, caller, settings }) => {
    const needsAll = params.sig_verify === true || settings.needsSignatures
    const transaction = await readFor(sponsor, params.transaction, needsAll ? 'all' : 'valid')
    const order = { transaction, userId: userOf(params, caller, transaction) }
    return { signed_transaction: await sign(sponsor, order), signer_pubkey: sponsor.address }
  },
  signAndSendTransaction: async (sponsor, { params, caller }) => {
    const respondAfter = respondAfterOf(params)
    const transaction = await readFor(sponsor, params.transaction, 'all')
    const order = { transaction, userId: userOf(params, caller, transaction) }
    const signature = await send(sponsor, order, respondAfter)
    return {
      signature,
      signed_transaction: withSignature(transaction, signature),
      signer_pubkey: sponsor.address,
    }
  },
  estimateBundleFee,
  signBundle,
  signAndSendBundle,
  transferTransaction: async (sponsor, { params }) => {
    const { amount } = params
    const units = typeof amount === 'number' || typeof amount === 'string' ? String(amount) : ''
    if (!/^[1-9]\d{0,19}$/.test(units))
      throw new KoraError('InvalidParams', 'amount: expected a whole number of base units.')
    return composeTransfer(sponsor, {
      amount: BigInt(units),
      token: addressOf(params, 'token'),
      source: addressOf(params, 'source'),
      destination: addressOf(params, 'destination'),
    })
  },
}

function isEnabled(method: Method, { disabled, bundles }: Settings): boolean {
  return !disabled.has(method) && (bundles !== undefined || !ABOUT_BUNDLES.includes(method))
}

function enabledMethods(settings: Settings): object {
  return Object.fromEntries(
    METHODS.map((name) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      isEnabled(name, settings),
    ]),
  )
}
