module.exports = "common";
