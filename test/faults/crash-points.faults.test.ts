import { startEvmTestChain } from '../../scripts/faults/evm/test-chain.ts'
import { crashSuite } from './crash-suite.ts'

const SIGNED_CALL = 'eth_sendRawTransaction'

crashSuite('EVM: killed between two steps, nothing is lost, nothing is doubled and no nonce is left out', {
  startTestChain: () => startEvmTestChain({ endpoints: 1 }),
  points: {
    send: [
      // Of the calls before anything is stored, one stands for all.
      { at: 'before', method: 'eth_estimateGas' },
      { at: 'answer' },
      { at: 'before', method: 'eth_getTransactionCount' },
      { at: 'before', method: SIGNED_CALL },
      { at: 'after', method: SIGNED_CALL },
      { at: 'status', status: 'submitted' },
      { at: 'status', status: 'mined' },
    ],
    replace: [{ at: 'before', method: SIGNED_CALL }, { at: 'after', method: SIGNED_CALL }, { at: 'answer' }],
    cancel: [{ at: 'after', method: SIGNED_CALL }, { at: 'answer' }],
  },
})
