// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// A caveat enforcer that burns the gas of whoever asks.
contract GreedyEnforcer {
    mapping(uint256 => uint256) burnt;

    fallback() external {
        uint256 sum;
        for (uint256 i; i < 1000; i++) sum += burnt[i];
        require(sum == 0);
    }
}

/// A caveat enforcer that allows everything where it is only simulated, which shows by a price of zero. In a block it refuses, or burns gas.
contract TwoFacedEnforcer {
    mapping(uint256 => uint256) burnt;
    bool immutable burns;

    constructor(bool burns_) { burns = burns_; }

    fallback() external {
        if (tx.gasprice == 0) return;
        require(burns, "not in a block");
        uint256 sum;
        for (uint256 i; i < 2000; i++) sum += burnt[i];
        require(sum == 0);
    }
}

/// An account that accepts every signature, and does what it is asked only where it is simulated. In a block it makes another call, or none.
contract TwoFacedAccount {
    mapping(uint256 => uint256) burnt;
    address target;
    bytes data;
    /// True if it makes its own call where it is simulated as well, besides the one that it is asked for.
    bool always;

    function prefer(address target_, bytes calldata data_, bool always_) external {
        (target, data, always) = (target_, data_, always_);
    }

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0x1626ba7e;
    }

    function executeFromExecutor(bytes32, bytes calldata execution) external payable returns (bytes[] memory results) {
        results = new bytes[](1);
        // Where it is simulated it is dear, so that there is gas for more in the block.
        uint256 sum;
        if (tx.gasprice == 0) for (uint256 i; i < 50; i++) sum += burnt[i];
        require(sum == 0);
        if (tx.gasprice == 0 || always) execute(address(bytes20(execution[0:20])), execution[52:]);
        if ((tx.gasprice != 0 || always) && target != address(0)) execute(target, data);
    }

    function execute(address to, bytes memory input) internal {
        (bool ok,) = to.call(input);
        require(ok, "the call failed");
    }
}
