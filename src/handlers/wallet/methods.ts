import type { Service } from '../service.ts'
import { createGetCallsStatus, createSendCalls, getCapabilities } from './bundles.ts'
import { createSendRawTransaction, createSendTransaction } from './sending.ts'
import {
  createPersonalSign,
  createSignTransaction,
  createSignTypedData,
  refuseToSignHashes,
  type SigningOperations,
} from './signing.ts'
import type { WalletMethod } from './wallet-call.ts'

/** The methods that a relayer answers where its policy `wallet_rpc` is true. */
const WALLET_METHODS = [
  'eth_accounts',
  'eth_requestAccounts',
  'eth_sendTransaction',
  'eth_sendRawTransaction',
  'eth_signTransaction',
  'eth_signTypedData_v4',
  'personal_sign',
  'eth_sign',
  'wallet_sendCalls',
  'wallet_getCallsStatus',
  'wallet_getCapabilities',
] as const

type WalletMethodName = (typeof WALLET_METHODS)[number]

/** Recognises a method of a wallet. */
export function isWalletMethod(method: string): method is WalletMethodName {
  return WALLET_METHODS.some((name) => name === method)
}

/**
 * The methods that send. Those of a batch run one after the other, so that their transactions have the order
 * of the calls.
 */
export const SENDING: ReadonlySet<string> = new Set<WalletMethodName>([
  'eth_sendTransaction',
  'wallet_sendCalls',
])

/** Makes the table of the methods. */
export function createWalletMethods(
  service: Service,
  operations: SigningOperations,
): Readonly<Record<WalletMethodName, WalletMethod>> {
  return {
    eth_accounts: accounts,
    eth_requestAccounts: accounts,
    eth_sendTransaction: createSendTransaction(service),
    eth_sendRawTransaction: createSendRawTransaction(service),
    eth_signTransaction: createSignTransaction({ ...service, operations }),
    eth_signTypedData_v4: createSignTypedData({ ...service, operations }),
    personal_sign: createPersonalSign({ ...service, operations }),
    eth_sign: refuseToSignHashes,
    wallet_sendCalls: createSendCalls(service),
    wallet_getCallsStatus: createGetCallsStatus(service),
    wallet_getCapabilities: getCapabilities,
  }
}

const accounts: WalletMethod = async ({ relayer }) => [relayer.address]
