export default "module";
