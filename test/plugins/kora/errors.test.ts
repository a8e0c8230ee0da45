import { expect, test } from 'vitest'
import { KoraError, type KoraErrorType, toKoraError } from '../../../plugins/kora/errors.ts'
import { ApiRefusal, Crowded, NodeError, Unavailable } from '../../../plugins/shared/host.ts'

/** Kora's numbers, by which its clients tell errors apart. */
test.each<[KoraErrorType, number]>([
  ['ParseError', -32_700],
  ['InvalidJsonRpc', -32_600],
  ['MethodNotFound', -32_601],
  ['InvalidParams', -32_602],
  ['InvalidTransaction', -32_000],
  ['ValidationError', -32_001],
  ['UnsupportedFeeToken', -32_002],
  ['InsufficientFunds', -32_003],
  ['InvalidRequest', -32_004],
  ['FeeEstimationFailed', -32_005],
  ['TransactionExecutionFailed', -32_006],
  ['SigningError', -32_020],
  ['RateLimitExceeded', -32_030],
  ['UsageLimitExceeded', -32_031],
  ['Unauthorized', -32_032],
  ['SwapError', -32_040],
  ['TokenOperationError', -32_041],
  ['AccountNotFound', -32_050],
  ['JitoError', -32_060],
  ['RecaptchaError', -32_061],
  ['InternalServerError', -32_090],
  ['ConfigError', -32_091],
  ['SerializationError', -32_092],
  ['RpcError', -32_093],
])('%s is %i, with its name and its sentence in data', (type, code) => {
  expect(new KoraError(type, 'A sentence.', { id: 7 }).toJson()).toEqual({
    code,
    message: 'A sentence.',
    data: { error_type: type, message: 'A sentence.', id: 7 },
  })
})

test.each<[string, unknown, KoraErrorType | undefined]>([
  ['too many requests of a caller', new Crowded('x'), 'RateLimitExceeded'],
  ['a service that does not answer', new Unavailable('x'), 'RpcError'],
  ['a node that refuses', new NodeError('x'), 'InvalidTransaction'],
  ['a fee payer that would lose', new ApiRefusal('fee_payer_at_risk', 'x'), 'ValidationError'],
  ['a policy', new ApiRefusal('policy_violation', 'x'), 'ValidationError'],
  ['a rule', new ApiRefusal('rule_violated', 'receivers'), 'ValidationError'],
  ['a limit of a user', new ApiRefusal('rule_violated', 'user_limits[0].count'), 'UsageLimitExceeded'],
  ['no price', new ApiRefusal('price_unavailable', 'x'), 'FeeEstimationFailed'],
  ['a transaction that would fail', new ApiRefusal('execution_reverted', 'x'), 'TransactionExecutionFailed'],
  ['an account that is missing', new ApiRefusal('account_not_found', 'x'), 'AccountNotFound'],
  ['what the operator lacks', new ApiRefusal('relayer_paused', 'x'), 'InternalServerError'],
  ['a defect', new TypeError('x'), undefined],
])('%s is told as what Kora calls it', (_, thrown, type) => {
  expect(toKoraError(thrown)?.type).toBe(type)
})
