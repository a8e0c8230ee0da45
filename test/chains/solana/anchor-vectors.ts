/** Types of an IDL, as Anchor 0.32 writes them. */
export const TYPES: readonly object[] = [
  {
    name: 'inner',
    type: {
      kind: 'struct',
      fields: [
        { name: 'a', type: 'u8' },
        { name: 'b', type: { option: 'i16' } },
      ],
    },
  },
  { name: 'pair', type: { kind: 'struct', fields: ['u8', 'u32'] } },
  { name: 'ids', type: { kind: 'type', alias: { vec: 'u64' } } },
  {
    name: 'kind',
    type: {
      kind: 'enum',
      variants: [
        { name: 'stop' },
        {
          name: 'move',
          fields: [
            { name: 'to', type: 'pubkey' },
            { name: 'by', type: 'i64' },
          ],
        },
        { name: 'both', fields: ['u8', { defined: { name: 'inner' } }] },
      ],
    },
  },
]

/** Types with a JSON value and its bytes in hex, which `BorshInstructionCoder` of @coral-xyz/anchor 0.32.1 wrote after the discriminator. */
export const ANCHOR_VECTORS: readonly [type: unknown, value: unknown, hex: string][] = [
  ['u8', 255, 'ff'],
  ['u16', 65535, 'ffff'],
  ['u32', 4294967295, 'ffffffff'],
  ['u64', '18446744073709551615', 'ffffffffffffffff'],
  ['u128', '340282366920938463463374607431768211455', 'ffffffffffffffffffffffffffffffff'],
  [
    'u256',
    '115792089237316195423570985008687907853269984665640564039457584007913129639935',
    'ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  ],
  ['i8', -128, '80'],
  ['i16', -2, 'feff'],
  ['i32', -2147483648, '00000080'],
  ['i64', '-9223372036854775808', '0000000000000080'],
  ['i128', '-170141183460469231731687303715884105728', '00000000000000000000000000000080'],
  [
    'i256',
    '-57896044618658097711785492504343953926634992332820282019728792003956564819968',
    '0000000000000000000000000000000000000000000000000000000000000080',
  ],
  ['f32', 1.5, '0000c03f'],
  ['f64', -0.1, '9a9999999999b9bf'],
  ['bool', true, '01'],
  ['string', 'grüezi €', '0b0000006772c3bc657a6920e282ac'],
  ['bytes', { base64: 'AQID' }, '03000000010203'],
  [
    'pubkey',
    '4CZKvXu4E5YnReTiVnfSCSb6VFFwBokbKyYM6TnSPuRW',
    '2f890047cd2310434baa79e3fc7a43fc4edac1693d06504d487365107bad44fd',
  ],
  [{ option: 'u64' }, null, '00'],
  [{ option: 'u64' }, '7', '010700000000000000'],
  [{ option: { option: 'u8' } }, 3, '010103'],
  [{ vec: 'u16' }, [1, 2, 3], '03000000010002000300'],
  [{ array: ['u8', 4] }, [9, 8, 7, 6], '09080706'],
  [{ defined: { name: 'inner' } }, { a: 1, b: -3 }, '0101fdff'],
  [{ defined: { name: 'kind' } }, 'stop', '00'],
  [
    { defined: { name: 'kind' } },
    { move: { to: '4CZKvXu4E5YnReTiVnfSCSb6VFFwBokbKyYM6TnSPuRW', by: '-5' } },
    '012f890047cd2310434baa79e3fc7a43fc4edac1693d06504d487365107bad44fdfbffffffffffffff',
  ],
  [{ defined: { name: 'kind' } }, { both: [3, { a: 4, b: null }] }, '02030400'],
  [{ vec: { option: { defined: { name: 'inner' } } } }, [null, { a: 2, b: 1 }], '02000000000102010100'],
  [{ defined: { name: 'pair' } }, [7, 70000], '0770110100'],
  [{ defined: { name: 'ids' } }, ['1', '2'], '0200000001000000000000000200000000000000'],
]
