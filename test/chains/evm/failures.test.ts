import { describe, expect, test } from 'vitest'
import { readBroadcast } from '../../../src/chains/evm/failures.ts'

const said = (message: string, code = -32000) => ({ kind: 'error', code, message }) as const

/** What each client writes, and what it means to us (R20). */
const PHRASES = [
  ['geth', 'already known', 'accepted'],
  ['geth, long ago', 'known transaction: 0x5f0e4d', 'accepted'],
  ['Nethermind', 'AlreadyKnown', 'accepted'],
  ['Besu', 'Known transaction', 'accepted'],
  ['anvil', 'transaction already imported', 'accepted'],
  ['zkSync', 'known transaction. transaction with hash 0x5f0e is already in the system', 'accepted'],
  ['geth', 'nonce too low: next nonce 5, tx nonce 3', 'nonce_used'],
  ['Erigon', 'nonce too low', 'nonce_used'],
  ['Nethermind', 'OldNonce, Current nonce: 5, nonce of rejected tx: 3', 'nonce_used'],
  ['Besu', 'Nonce too low', 'nonce_used'],
  ['Hardhat', 'Nonce too low. Expected nonce to be 5 but got 3.', 'nonce_used'],
  ['zkSync', 'nonce too low. allowed nonce range: 5 - 55, actual: 3', 'nonce_used'],
  ['Evmos', 'invalid nonce; got 3, expected 5: invalid sequence: invalid sequence', 'nonce_used'],
  ['Evmos', 'invalid nonce; got 9, expected 5: invalid sequence: invalid sequence', 'later'],
  ['Cosmos', 'account sequence mismatch, expected 5, got 3: incorrect account sequence', 'nonce_used'],
  ['Cosmos', 'account sequence mismatch, expected 5, got 9: incorrect account sequence', 'later'],
  ['zkSync, without numbers', 'incorrect account sequence', 'later'],
  ['OpenEthereum', 'Transaction nonce is too low. Try incrementing the nonce.', 'nonce_used'],
  ['OpenEthereum', 'Transaction with the same hash was already imported.', 'accepted'],
  ['Erigon', 'existing tx with same hash', 'accepted'],
  ['Tendermint', 'tx already exists in cache', 'accepted'],
  ['geth', 'replacement transaction underpriced', 'underpriced'],
  [
    'OpenEthereum',
    'Transaction gas price 1wei supplied is too low. There is another transaction with same nonce in the queue. Try increasing the gas price or incrementing the nonce.',
    'underpriced',
  ],
  [
    'geth, with numbers',
    'replacement transaction underpriced: new tx gas fee cap 11 <= 10 queued + 100% replacement penalty',
    'underpriced',
  ],
  ['Nethermind', 'ReplacementNotAllowed', 'underpriced'],
  ['Erigon', 'could not replace existing tx', 'underpriced'],
  ['Besu', 'Replacement transaction underpriced', 'underpriced'],
  ['geth', 'nonce too high: address 0xf39F, tx: 9 state: 4', 'later'],
  ['Arbitrum', 'nonce too high: address 0xf39F, tx: 5 state: 4', 'later'],
  ['Nethermind', 'NonceGap, Future nonce. Expected nonce: 4', 'later'],
  ['zkSync', 'nonce too high. allowed nonce range: 5 - 55, actual: 99', 'later'],
  ['geth', 'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000', 'later'],
  ['Nethermind', 'InsufficientFunds, Account balance: 0', 'later'],
  ['Besu', 'Upfront cost exceeds account balance', 'later'],
  ['Hardhat', "sender doesn't have enough funds to send tx", 'later'],
  ['anvil', 'Insufficient funds for gas * price + value', 'later'],
  ['geth', 'txpool is full', 'later'],
  ['Erigon', 'pending sub-pool is full', 'later'],
  [
    'OpenEthereum',
    'There are too many transactions in the queue. Your transaction was dropped due to limit.',
    'later',
  ],
  ['geth', 'account limit exceeded', 'later'],
  ['geth', 'future transaction tries to replace pending', 'later'],
  ['geth, EIP-7702', 'in-flight transaction limit reached for delegated accounts', 'later'],
  ['geth, EIP-7702', 'gapped-nonce tx from delegated accounts', 'later'],
  ['geth', 'transaction would cause overdraft', 'later'],
  ['Nethermind', 'NonceTooFarInFuture', 'later'],
  ['Nethermind', 'PendingTxsOfConflictingType', 'later'],
  ['Nethermind', 'Syncing', 'later'],
  ['Besu', 'Transaction nonce is too distant from current sender nonce', 'later'],
  ['Besu', 'An invalid transaction with a lower nonce exists', 'later'],
  ['Besu', 'Gas price below current base fee', 'later'],
  ['Erigon', 'nonce too distant', 'later'],
  [
    'Hardhat',
    "Nonce too high. Expected nonce to be 4 but got 9. Note that transactions can't be queued",
    'later',
  ],
  ['zkSync', 'insufficient funds for gas + value. balance: 1, fee: 2, value: 3', 'later'],
  ['Arbitrum', 'sequencer temporarily not available', 'later'],
  ['a provider', 'Too Many Requests', 'later'],
  ['Erigon', 'max fee per gas less than block base fee', 'later'],
  ['anvil', 'max fee per gas less than block base fee', 'later'],
  [
    'Arbitrum',
    'max fee per gas less than block base fee: address 0xf39F, maxFeePerGas: 1 baseFee: 2',
    'later',
  ],
  ['Nethermind', 'FeeTooLow, MaxFeePerGas too low', 'later'],
  ['geth', 'transaction underpriced: tip needed 1, tip permitted 0', 'later'],
  ['Besu', 'Gas price below configured minimum gas price', 'later'],
  ['a provider', 'daily request limit exceeded', 'later'],
  ['a provider', 'internal error', 'later'],
  ['a provider', 'error decoding response body: operation timed out', 'later'],
  ['a provider', 'failed to decode upstream response', 'later'],
  ['nobody yet', 'the stars are not right', 'later'],
  ['geth', 'intrinsic gas too low: gas 20000, minimum needed 21000', 'refused'],
  ['Besu', 'Intrinsic gas exceeds gas limit', 'refused'],
  ['geth', 'insufficient gas for floor data gas cost: gas 21000, minimum needed 31000', 'refused'],
  ['geth', 'exceeds block gas limit', 'refused'],
  ['geth, EIP-7825', 'transaction gas limit too high (cap: 16777216, tx: 30000000)', 'refused'],
  ['Besu', 'Transaction gas limit exceeds block gas limit', 'refused'],
  ['Nethermind', 'GasLimitExceeded, Gas limit: 30000000', 'refused'],
  ['zkSync', 'exceeds transaction gas limit', 'refused'],
  ['geth', 'oversized data: transaction size 131100, limit 131072', 'refused'],
  ['geth', 'max initcode size exceeded: code size 49153, limit 49152', 'refused'],
  ['anvil', 'create initcode size limit', 'refused'],
  ['geth', 'invalid sender', 'refused'],
  ['geth', 'nonce has max value', 'refused'],
  ['geth', 'tx fee (1.50 ether) exceeds the configured cap (1.00 ether)', 'refused'],
  ['geth', 'only replay-protected (EIP-155) transactions allowed over RPC', 'refused'],
  ['geth', 'gas uint64 overflow', 'refused'],
  ['Reth', 'sender is not an EOA', 'refused'],
  ['Erigon', 'initcode too large', 'refused'],
  ['Erigon', 'rlp too long', 'refused'],
  ['Nethermind', 'SenderIsContract', 'refused'],
  ['Nethermind', 'NotSupportedTxType', 'refused'],
  ['Nethermind', 'MaxTxSizeExceeded', 'refused'],
  ['Besu', 'Max priority fee per gas exceeds max fee per gas', 'refused'],
  ['zkSync', 'max fee per gas higher than 2^64-1', 'refused'],
  ['zkSync', 'exceeds limit for gas', 'refused'],
  ['geth', 'transaction type not supported', 'refused'],
  ['geth', 'tx type 2 not supported by this pool', 'refused'],
  ['geth', 'max priority fee per gas higher than max fee per gas', 'refused'],
  ['geth', 'rlp: expected input list for types.LegacyTx', 'refused'],
  ['anvil', 'Failed to decode transaction', 'refused'],
  ['Reth', 'failed to decode signed transaction', 'refused'],
] as const

describe('readBroadcast', () => {
  test.each(PHRASES)('%s: "%s" means %s', (_client, message, want) => {
    expect(readBroadcast(said(message)).kind).toBe(want)
  })

  test('a result is accepted, and an answer that never came is unknown, never a no (I6)', () => {
    expect(readBroadcast({ kind: 'result', result: '0x5f' })).toEqual({ kind: 'accepted' })
    expect(readBroadcast({ kind: 'unknown', detail: 'time-out' })).toEqual({
      kind: 'unknown',
      detail: 'time-out',
    })
  })

  test('the words of the node are kept for the reader', () => {
    expect(readBroadcast(said('nonce too low'))).toEqual({ kind: 'nonce_used', detail: 'nonce too low' })
  })
})
