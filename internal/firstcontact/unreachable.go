package firstcontact

var unreachable []Unreachable
