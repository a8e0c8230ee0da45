import type { BroadcastResult } from '../../../src/chains/answer.ts'
import type { SimulationError } from '../../../src/chains/evm/prepare/revert.ts'

/**
 * A sentence by which nodes refuse, with its meaning for a broadcast and, where nodes say it there, for an estimate. The metric
 * `unknown_node_texts_total` and the log line beside it show what is missing here: add a row, with the place where the text stands.
 */
export interface NodeText {
  readonly client: string
  /** The file in the repository of the client, and the version or commit that was read; or where it was seen. */
  readonly source: string
  readonly text: string
  /** The code of the JSON-RPC error. Default -32000. */
  readonly code?: number
  readonly data?: unknown
  readonly broadcast?: BroadcastResult['kind']
  readonly estimate?: SimulationError
}

/** The texts of one file of a client. */
interface Source {
  readonly client: string
  readonly source: string
  readonly code?: number
  readonly data?: unknown
  readonly broadcast?: Readonly<Partial<Record<BroadcastResult['kind'], readonly string[]>>>
  readonly estimate?: Readonly<Partial<Record<SimulationError, readonly string[]>>>
}

const HASH = `0x${'5f0e'.repeat(16)}`
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

const SOURCES: readonly Source[] = [
  {
    client: 'go-ethereum',
    source: 'core/txpool/errors.go and validation.go, core/error.go, 02b73d4e',
    broadcast: {
      accepted: ['already known', 'known transaction: 0x5f0e4d'],
      nonce_used: ['nonce too low: next nonce 5, tx nonce 3'],
      underpriced: [
        'replacement transaction underpriced',
        'replacement transaction underpriced: new tx gas fee cap 11 <= 10 queued + 100% replacement penalty',
      ],
      too_cheap: [
        'transaction underpriced: tip needed 1, tip permitted 0',
        'transaction underpriced: gas tip cap 1, minimum needed 1000000000',
        'transaction gas price below minimum: gas tip cap 1, minimum needed 1000000000',
        'max fee per gas less than block base fee',
      ],
      too_dear: ['tx fee (1.50 ether) exceeds the configured cap (1.00 ether)'],
      gas_limit: [
        'exceeds block gas limit',
        'intrinsic gas too low: gas 20000, minimum needed 21000',
        'insufficient gas for floor data gas cost: gas 21000, minimum needed 31000',
        'transaction gas limit too high (cap: 16777216, tx: 30000000)',
      ],
      later: [
        'nonce too high: tx nonce 9, gapped nonce 4',
        'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000',
        'transaction would cause overdraft',
        'txpool is full',
        'account limit exceeded: pooled 64 txs',
        'future transaction tries to replace pending',
        'address already reserved',
        'authority already reserved',
        'in-flight transaction limit reached for delegated accounts',
        'gapped-nonce tx from delegated accounts',
      ],
      unclear: [
        'transaction type not supported: type 2 rejected, pool not yet in London',
        'transaction type not supported: type 4 rejected, pool not yet in Prague',
      ],
      refused: [
        'authority nonce too low',
        'invalid sender',
        'nonce has max value',
        'gas uint64 overflow',
        'oversized data: transaction size 131100, limit 131072',
        'max initcode size exceeded: code size 49153, limit 49152',
        'max priority fee per gas higher than max fee per gas',
        'max fee per gas higher than 2^256-1',
        'transaction type not supported',
        'tx type 2 not supported by this pool',
        'only replay-protected (EIP-155) transactions allowed over RPC',
        'rlp: expected input list for types.LegacyTx',
        'sender not an eoa: address 0xf39F, codehash: 0x5f0e',
      ],
    },
    estimate: {
      reverted: ['execution reverted', 'invalid opcode: INVALID', 'stack underflow (0 <=> 2)'],
      out_of_gas: ['gas required exceeds allowance (30000000)'],
      insufficient_funds: [
        'insufficient funds for transfer',
        'err: insufficient funds for gas * price + value: address 0xf39F have 0 want 1',
      ],
      unavailable: ['missing trie node 5f0e4d', 'header not found', 'execution aborted (timeout = 5s)'],
    },
  },
  {
    client: 'go-ethereum',
    source: 'internal/ethapi/errors.go, 02b73d4e',
    code: 3,
    data: '0x',
    broadcast: { unclear: ['execution reverted: already known', 'execution reverted: nonce too low'] },
    estimate: { reverted: ['execution reverted', 'execution reverted: insufficient funds'] },
  },
  {
    client: 'Avalanche',
    source: 'vms/saevm/txgossip/txgossip.go, avalanchego 1.15.0',
    broadcast: {
      gas_limit: [
        'insufficient gas limit for tx size: tx size 40104 bytes must specify gas limit at least 407950 when the block gas limit is 16000000',
      ],
      nonce_used: ['nonce too low: address 0x0499 current nonce (5833) > tx nonce (5511)'],
    },
  },
  {
    client: 'Erigon',
    source: 'txnprovider/txpool/txpoolcfg/txpoolcfg.go, 05916db2',
    broadcast: {
      accepted: ['already known', 'existing tx with same hash', 'existing txn with same hash'],
      nonce_used: ['nonce too low', 'mined'],
      underpriced: [
        'replacement transaction underpriced',
        'could not replace existing tx',
        'replaced by transaction with higher tip',
      ],
      too_cheap: ['underpriced', 'fee too low', 'max fee per gas less than block base fee'],
      gas_limit: ['IntrinsicGas', 'gas limit is too high', 'gas limit is too big'],
      later: [
        'insufficient funds',
        'spammer',
        'pending sub-pool is full',
        'baseFee sub-pool is full',
        'queued sub-pool is full',
        'nonce too distant',
        'EIP-7702 transaction with authority already reserved',
      ],
      unclear: ['fork supporting this transaction type is not activated yet'],
      refused: [
        'oversized data',
        'invalid sender',
        'GasUintOverflow',
        'RLPTooLong',
        'rlp too long',
        'initcode too large',
      ],
    },
  },
  {
    client: 'Nethermind',
    source: 'Nethermind.TxPool/TxPoolErrorMessages.cs and Nethermind.Core/Messages/TxErrorMessages.cs, 2026',
    broadcast: {
      accepted: ['already known'],
      nonce_used: ['nonce too low'],
      underpriced: ['replacement transaction underpriced'],
      too_cheap: ['transaction underpriced'],
      gas_limit: [
        'gas limit reached',
        'intrinsic gas too low',
        'TxGasLimitCapExceeded: Gas limit 20000000 exceeded cap of 16777216.',
      ],
      later: [
        'insufficient funds for gas * price + value',
        'nonce too high',
        'nonce too far in future',
        'pending transaction type conflict',
        'delegation nonce gap',
        'delegation authority has pending transaction',
      ],
      refused: [
        'sender not an eoa',
        'failed to recover sender',
        'transaction cost overflow',
        'unsupported transaction type',
        'transaction too large',
        'max initcode size exceeded',
        'InvalidTxType: Transaction type in Prague is not supported.',
        'InvalidMaxPriorityFeePerGas: Cannot be higher than maxFeePerGas.',
      ],
      unclear: ['transaction invalid', 'node is syncing'],
    },
  },
  {
    client: 'Nethermind, earlier',
    source: 'Nethermind.TxPool/AcceptTxResult.cs, 1.31',
    broadcast: {
      accepted: ['AlreadyKnown'],
      nonce_used: ['OldNonce, Current nonce: 5, nonce of rejected tx: 3'],
      underpriced: ['ReplacementNotAllowed', 'OwnNonceAlreadyUsed'],
      too_cheap: [
        'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 50, BaseFee: 100, MaxPriorityFeePerGas:200, Block number: 5',
        'FeeTooLow, EffectivePriorityFeePerGas too low 10 < 20, BaseFee: 30',
        'FeeTooLow, FeePerGas needs to be higher than 100 to be added to the TxPool. Affordable FeePerGas of rejected tx: 50.',
        'FeeTooLowToCompete, Pool is full',
      ],
      gas_limit: ['GasLimitExceeded, Gas limit: 30000000, gas limit of rejected tx: 31000000'],
      later: [
        'NonceGap, Future nonce. Expected nonce: 4',
        'NonceTooFarInFuture',
        'InsufficientFunds, Account balance: 0',
        'InsufficientFunds, Balance is 1 less than sending value + gas 7',
        'PendingTxsOfConflictingType',
      ],
      unclear: ['Syncing'],
      refused: [
        'SenderIsContract',
        'NotSupportedTxType',
        'MaxTxSizeExceeded',
        'FailedToResolveSender',
        'Int256Overflow',
      ],
    },
    estimate: { reverted: ['VM execution error: Reverted 0x08c379a0'] },
  },
  {
    client: 'Nethermind and Besu',
    source: 'a revert with its bytes',
    code: -32015,
    data: 'Reverted 0x08c379a0',
    estimate: { reverted: ['VM execution error.'] },
  },
  {
    client: 'Besu',
    source: 'ethereum/api RpcErrorType.java and ethereum/core MainnetTransactionValidator.java, 3fd224e2',
    broadcast: {
      accepted: ['Known transaction'],
      nonce_used: ['Nonce too low', 'transaction nonce 3 below sender account nonce 5'],
      underpriced: ['Replacement transaction underpriced'],
      too_cheap: [
        'Gas price below configured minimum gas price',
        'Gas price below current base fee',
        'gasPrice is less than the current BaseFee',
      ],
      too_dear: ['Transaction fee cap exceeded'],
      gas_limit: [
        'Transaction gas limit exceeds block gas limit',
        'Transaction gas limit cap exceeded',
        'Transaction gas limit must be at most 16777216',
        'Intrinsic gas exceeds gas limit',
        'intrinsic gas cost 21064 exceeds gas limit 21000',
      ],
      later: [
        'Nonce too high',
        'transaction nonce 9 does not match sender account nonce 5.',
        'Transaction nonce is too distant from current sender nonce',
        'An invalid transaction with a lower nonce exists',
        'Upfront cost exceeds account balance',
        'transaction up-front cost 0x1 exceeds transaction sender account balance 0x0',
      ],
      refused: [
        'Invalid signature',
        'Max priority fee per gas exceeds max fee per gas',
        'max priority fee per gas cannot be greater than max fee per gas',
        'Transaction type DELEGATE_CODE is invalid, accepted transaction types are [FRONTIER, EIP1559]',
        'Initcode size of 49153 exceeds maximum size of 49152',
        'Sender 0xf39F has deployed code and so is not authorized to send transactions',
      ],
      // The reason is another sentence, which Besu keeps to itself, or an account that may send nothing.
      unclear: [
        'Plugin has marked the transaction as invalid',
        'Sender account not authorized to send transactions',
        'Initial sync is still in progress',
        'Transaction pool not enabled. (Either txpool explicitly disabled, or node not yet in sync).',
      ],
    },
    estimate: { insufficient_funds: ['Upfront cost exceeds account balance'] },
  },
  {
    client: 'Besu',
    source: 'ethereum/api RpcErrorType.java EXCEEDS_TRANSACTION_GAS_LIMIT, 3fd224e2',
    code: -32005,
    broadcast: { gas_limit: ['Transaction gas limit cap exceeded'] },
  },
  {
    client: 'Linea',
    source: 'linea-sequencer/…/txpoolvalidation/validators, linea-monorepo cb180134',
    broadcast: {
      too_cheap: ['Gas price too low'],
      gas_limit: ['Gas limit of transaction is greater than the allowed max of 24000000'],
      refused: [
        'Calldata of transaction is greater than the allowed max of 30000',
        `Transaction ${HASH} line count for module ROM=2369 is above the limit 2300`,
        'Transaction line count for module ADD=402 is above the limit 70',
        `recipient ${ADDRESS} is blocked as appearing on the SDN or other legally prohibited list`,
      ],
      // Nothing else of this sender is taken either, so a no-op would end nothing.
      unclear: [`sender ${ADDRESS} is blocked as appearing on the SDN or other legally prohibited list`],
    },
  },
  {
    client: 'Reth',
    source: 'crates/rpc/rpc-eth-types/src/error/mod.rs, 7b3432d9',
    broadcast: {
      accepted: ['already known'],
      nonce_used: ['nonce too low: next nonce 5, tx nonce 3'],
      underpriced: ['replacement transaction underpriced'],
      too_cheap: [
        'transaction underpriced',
        'transaction priority fee below minimum required priority fee 20000000000',
        'max fee per gas less than block base fee',
      ],
      too_dear: ['tx fee (1500000000000000000 wei) exceeds the configured cap (1000000000000000000 wei)'],
      gas_limit: [
        'exceeds block gas limit',
        'exceeds max transaction gas limit',
        'gas limit too high',
        'intrinsic gas too low',
        'intrinsic gas too high',
      ],
      later: [
        'nonce too high',
        'txpool is full',
        'address already reserved',
        'insufficient funds for gas * price + value: have 0 want 1',
      ],
      refused: [
        'sender is not an EOA',
        'max initcode size exceeded',
        'oversized data: transaction size 131100, limit 131072',
        'transaction type not supported',
        'EIP-7702 authorization list not supported',
        'failed to decode signed transaction',
        'invalid transaction signature',
        'invalid chain ID',
        'nonce has max value',
      ],
      unclear: ['internal error'],
    },
    estimate: {
      reverted: ['EVM error: OpcodeNotFound', 'out of gas: gas required exceeds: 30000000'],
      out_of_gas: ['gas required exceeds allowance (30000000)'],
      insufficient_funds: ['insufficient funds for gas * price + value: have 0 want 1'],
    },
  },
  {
    client: 'revm',
    source: 'crates/context/interface/src/result.rs InvalidTransaction, 0382ee0a',
    broadcast: {
      nonce_used: ['nonce 3 too low, expected 5'],
      too_cheap: ['gas price is less than basefee'],
      gas_limit: [
        'transaction gas limit (40000000) is greater than the cap (30000000)',
        'transaction validation error: transaction gas limit (40000000) is greater than the cap (30000000)',
        'caller gas limit exceeds the block gas limit',
        'call gas cost (53000) exceeds the gas limit (21000)',
        'gas floor (31000) exceeds the gas limit (21000)',
      ],
      later: ['nonce 9 too high, expected 5', 'lack of funds (0) for max fee (21000)'],
      refused: [
        'priority fee is greater than max fee',
        'reject transactions from senders with deployed code',
        'create initcode size limit',
      ],
    },
  },
  {
    client: 'Arbitrum Nitro',
    source: 'execution/gethexec/tx_pre_checker.go, 6dce8d13',
    broadcast: {
      nonce_used: ['nonce too low: address 0xf39F, tx: 3 state: 5'],
      too_cheap: ['max fee per gas less than block base fee: address 0xf39F, maxFeePerGas: 1 baseFee: 2'],
      gas_limit: ['intrinsic gas too low'],
      later: [
        'nonce too high: address 0xf39F, tx: 9 state: 5',
        'insufficient funds for gas * price + value: address 0xf39F have 1 want 2',
        'sequencer pending tx pool full, please try again',
        'queue full',
      ],
      // `state.ErrArbTxFilter` is an internal error, and is about the content.
      unclear: ['internal error', 'sequencer temporarily not available'],
    },
  },
  {
    client: 'zkSync and Abstract',
    source:
      'core/node/api_server/src/tx_sender/result.rs and web3/backend_jsonrpsee/mod.rs, zksync-era 3e29e4a0',
    code: 3,
    data: '0x',
    broadcast: {
      accepted: [
        `known transaction. transaction with hash ${HASH} is already in the system`,
        `ErrorObject { code: ServerError(3), message: "known transaction. transaction with hash ${HASH} is already in the system", data: Some(RawValue("0x")) }`,
      ],
      nonce_used: ['nonce too low. allowed nonce range: 427 - 447, actual: 426'],
      underpriced: ['replacement transaction underpriced'],
      too_cheap: [
        'max fee per gas less than block base fee',
        'virtual machine entered unexpected state. please contact developers and provide transaction details that caused this error. Error description: The operator included transaction with an unacceptable gas price',
      ],
      gas_limit: [
        'exceeds block gas limit',
        'intrinsic gas too low',
        'not enough gas to publish compressed bytecodes',
      ],
      later: [
        'nonce too high. allowed nonce range: 427 - 477, actual: 527',
        'insufficient funds for gas + value. balance: 42719769622667482000, fee: 48098250000000, value: 42719769622667482000',
        'not enough balance to cover the fee. error message: x',
        'failed to validate the transaction. reason: Account validation error: Not enough balance for fee + value',
      ],
      refused: [
        'transaction type 7 not supported',
        "invalid sender. can't start a transaction from a non-account",
        'max priority fee per gas higher than max fee per gas',
        'max fee per gas higher than 2^64-1',
        'oversized data. max: 131072; actual: 140000',
        `contract deployer address ${ADDRESS} is not in the allow list`,
      ],
      unclear: [
        'execution reverted: not yours',
        'failed to include transaction in the system. reason: x',
        'failed to validate the transaction. reason: Validation revert: x',
        'transaction failed block.timestamp assertion',
        'insertion of another transaction with the same nonce is in progress',
        'server shutting down',
      ],
    },
    estimate: {
      reverted: ['execution reverted: not yours', 'execution reverted: insufficient funds'],
      insufficient_funds: [
        'insufficient funds for gas + value. balance: 42719769622667482000, fee: 48098250000000, value: 42719769622667482000',
        'not enough balance to cover the fee. error message: x',
      ],
      out_of_gas: ['exceeds block gas limit'],
      unavailable: ['max fee per gas less than block base fee', 'server shutting down'],
      unclear: ['failed to validate the transaction. reason: x', 'insufficient funds in the vault'],
    },
  },
  {
    client: 'anvil',
    source: 'crates/anvil/src/eth/error.rs, 1.4',
    broadcast: {
      accepted: ['transaction already imported'],
      too_cheap: ['max fee per gas less than block base fee'],
      later: ['Insufficient funds for gas * price + value'],
      refused: ['create initcode size limit', 'Failed to decode transaction'],
    },
    estimate: { insufficient_funds: ['EVM error OutOfFunds'], reverted: ['EVM error StackUnderflow'] },
  },
  {
    client: 'Hardhat',
    source: 'seen with Hardhat 2',
    broadcast: {
      nonce_used: ['Nonce too low. Expected nonce to be 5 but got 3.'],
      later: [
        "Nonce too high. Expected nonce to be 4 but got 9. Note that transactions can't be queued",
        "sender doesn't have enough funds to send tx",
      ],
    },
    estimate: { reverted: ["VM Exception while processing transaction: reverted with reason string 'no'"] },
  },
  {
    client: 'Ethermint, Cosmos and Sei',
    source: 'app/ante/nonce.go; x/auth; CometBFT mempool/errors.go',
    broadcast: {
      accepted: ['tx already exists in cache'],
      nonce_used: [
        'invalid nonce; got 3, expected 5: invalid sequence: invalid sequence',
        'account sequence mismatch, expected 5, got 3: incorrect account sequence',
        'tx nonce is lower than account nonce',
      ],
      later: [
        'invalid nonce; got 9, expected 5: invalid sequence: invalid sequence',
        'account sequence mismatch, expected 5, got 9: incorrect account sequence',
        'tx nonce is higher than account nonce',
      ],
      too_cheap: ['insufficient fee; got: 1aevmos required: 100aevmos: insufficient fee'],
      unclear: ['incorrect account sequence'],
    },
  },
  {
    client: 'OpenEthereum',
    source: 'rpc/src/v1/helpers/errors.rs',
    broadcast: {
      accepted: ['Transaction with the same hash was already imported.'],
      nonce_used: ['Transaction nonce is too low. Try incrementing the nonce.'],
      underpriced: [
        'Transaction gas price 1wei supplied is too low. There is another transaction with same nonce in the queue. Try increasing the gas price or incrementing the nonce.',
      ],
      too_cheap: [
        "Transaction gas price is too low. It does not satisfy your node's minimal gas price (minimal: 100 got: 50). Try increasing the gas price.",
      ],
      later: ['There are too many transactions in the queue. Your transaction was dropped due to limit.'],
    },
  },
  {
    client: 'Kaia, Harmony, Celo, Mantle, Metis, Astar, Hedera and Moonbeam',
    source: 'texts of smartcontractkit/chainlink, core/chains/evm/client/errors_test.go',
    broadcast: {
      accepted: [
        'alreadyknown',
        "failed to forward tx to sequencer, please try again. Error message: 'already known'",
        'submit transaction to pool failed: Pool(AlreadyImported)',
      ],
      nonce_used: [
        "failed to forward tx to sequencer, please try again. Error message: 'nonce too low'",
        'submit transaction to pool failed: Pool(Stale)',
        'transaction already finalized',
      ],
      underpriced: [
        'there is another tx which has the same nonce in the tx pool',
        'submit transaction to pool failed: Pool(TooLowPriority { old: 1, new: 1 })',
      ],
      too_cheap: [
        'gasprice is less than gas price minimum floor',
        'gas price too low: 1 wei, use at least tx.gasPrice = 20000000000 wei',
        'gas price less than block base fee',
        "[Request ID: e4d09e44] Gas price '830000000000' is below configured minimum gas price '950000000000'",
      ],
      later: [
        'insufficient funds for gas * price + value + gatewayFee',
        'insufficient balance for transfer',
        '[Request ID: 9dd7] Error invoking RPC: transaction 0.0.3@1 failed precheck with status INSUFFICIENT_PAYER_BALANCE',
        'submit transaction to pool failed: Pool(ImmediatelyDropped)',
      ],
      refused: ['not enough keccak counters to continue the execution'],
    },
  },
  {
    client: 'Monad',
    source: 'seen at endpoints',
    broadcast: {
      refused: [
        'Encoded length limit exceeded',
        'Init code size limit exceeded',
        'EIP7702 authorization list length limit exceeded',
      ],
    },
  },
  {
    client: 'bsc',
    source: 'core/txpool/errors.go, v1.5',
    broadcast: { later: ['transaction underpriced, so it is either in pool2 or pool3'] },
  },
  {
    client: 'providers and gateways',
    source: 'seen at endpoints',
    broadcast: {
      unclear: [
        'Too Many Requests',
        'daily request limit exceeded',
        'rate limit reached',
        'internal error',
        'error decoding response body: operation timed out',
        'failed to decode upstream response',
        'the stars are not right',
      ],
    },
    estimate: {
      unavailable: ['request timed out', 'upstream connect error'],
      unclear: ['the stars are not right'],
    },
  },
  {
    client: 'a gateway that wraps the error of its node',
    source: 'seen with wallets and their gateways',
    code: -32603,
    data: { code: -32000, message: 'nonce too low: next nonce 5, tx nonce 3' },
    broadcast: { nonce_used: ['Internal JSON-RPC error.'] },
  },
  {
    client: 'a gateway that wraps the revert of its node',
    source: 'seen with wallets and their gateways',
    code: -32603,
    data: { originalError: { code: 3, data: '0x08c379a0', message: 'execution reverted: no' } },
    broadcast: { unclear: ['Internal JSON-RPC error.'] },
    estimate: { reverted: ['Internal JSON-RPC error.'] },
  },
]

/** Every text with its meanings. */
export const NODE_TEXTS: readonly NodeText[] = SOURCES.flatMap(
  ({ broadcast = {}, estimate = {}, ...source }) => [
    ...Object.entries(broadcast).flatMap(([meaning, texts]) =>
      texts.map((text) => ({ ...source, text, broadcast: meaning as BroadcastResult['kind'] })),
    ),
    ...Object.entries(estimate).flatMap(([meaning, texts]) =>
      texts.map((text) => ({ ...source, text, estimate: meaning as SimulationError })),
    ),
  ],
)
